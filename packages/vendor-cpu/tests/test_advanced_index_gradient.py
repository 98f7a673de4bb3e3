"""Gradients of indexing by tensors."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like


def test_cases_of_the_suite(vendor: Vendor) -> None:
    check_cases(vendor, "diopiIndexBackward")


def test_too_many_indices_are_refused(vendor: Vendor) -> None:
    out, grad = out_like(vendor, (3, 2), "float32"), out_like(vendor, (2, 2), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiIndexBackward\] 3 indices were given for 2"):
        vendor.op.IndexBackward(out, out, [vendor.tensor(np.array([0]))] * 3, grad)
