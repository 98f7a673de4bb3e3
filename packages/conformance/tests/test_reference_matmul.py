"""Gradients of matrix products match torch in double precision, in every case."""

from __future__ import annotations

import numpy as np
import pytest

from dl_conformance.catalog import cases_of
from dl_conformance.execution import CaseInputs
from dl_conformance.reference import as_expected

torch = pytest.importorskip("torch")
from torch_calls import as_torch  # noqa: E402 - skipped where torch is not installed


def test_gradient_of_a_product_is_that_of_torch() -> None:
    compared = 0
    for case in cases_of("diopiMatmulBackward"):
        if case.dtype not in ("float64", "complex128") or case.models:
            continue
        inputs = CaseInputs(case)
        left, right = (as_torch(inputs.wide[x]).requires_grad_() for x in ("input", "other"))
        torch.matmul(left, right).backward(as_torch(inputs.wide["grad_out"]))
        for name, value in inputs.expected().items():
            got = (left if name == "grad_input" else right).grad.numpy()
            want = np.asarray(as_expected(value).value)
            assert got.shape == want.shape
            np.testing.assert_allclose(
                got, want.astype(got.dtype), rtol=1e-12, atol=1e-12, err_msg=case.name
            )
            compared += 1
    assert compared > 50
