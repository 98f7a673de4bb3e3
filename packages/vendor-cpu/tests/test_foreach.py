"""Operators on lists of tensors."""

from __future__ import annotations

import numpy as np

from diopi_proto import Vendor
from diopi_proto.tolerance import OpClass
from support import check, numbers, out_like, place


def test_foreach_forms(vendor: Vendor) -> None:
    sources = [numbers((3, 4), "float32", 26), numbers((7,), "float32", 27)]
    for name, reference in (("Foreachadd", np.add), ("Foreachmul", np.multiply)):
        tensors = [place(vendor, s, "float32") for s in sources]
        outs = [out_like(vendor, s.shape, "float32") for s in sources]
        vendor.op[f"diopi{name}Scalar"](outs, [t for t, _ in tensors], 3)
        for out, (_, x) in zip(outs, tensors, strict=True):
            check(out, reference(x, 3), OpClass.ROUNDING, name)
        vendor.op[f"diopi{name}InpScalar"]([t for t, _ in tensors], 3)
        for out, (t, _) in zip(outs, tensors, strict=True):
            assert np.array_equal(out.numpy(), t.numpy())
    factor = vendor.tensor(np.array(3, np.float32))
    tensors = [place(vendor, s, "float32") for s in sources]
    outs = [out_like(vendor, s.shape, "float32") for s in sources]
    vendor.op.ForeachmulTensor(outs, [t for t, _ in tensors], factor)
    vendor.op.ForeachmulInpTensor([t for t, _ in tensors], factor)
    for out, (t, x) in zip(outs, tensors, strict=True):
        check(out, x * 3, OpClass.ROUNDING, "ForeachmulTensor")
        assert np.array_equal(out.numpy(), t.numpy())
