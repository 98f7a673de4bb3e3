"""Operators that a vendor claims must run there, and be right."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from dl_torch_tests.opinfo.known_failures import Key, cause_of

from .native import check_native, exercising, home_dtype

# Many operators of torch emit deprecation warnings.
pytestmark = pytest.mark.filterwarnings("ignore")

OTHER_DTYPES = (
    torch.float64,
    torch.bfloat16,
    torch.float16,
    torch.complex64,
    torch.int64,
    torch.int32,
    torch.uint8,
    torch.bool,
)


def claimed() -> list[str]:
    """Return the overloads. Needs the device while tests are collected; without one, a separate
    test fails."""
    return torch.dl.native_operators(0) if hasattr(torch, "dl") else []


def test_a_vendor_claims_operators(vendor: str) -> None:
    assert claimed(), f"vendor {vendor} implements no operator"


@pytest.mark.parametrize("overload", claimed())
def test_claimed_operator_runs_without_fallback(
    overload: str, known: dict[Key, str], native_counts: Callable[[bool], None]
) -> None:
    assert exercising(overload), (
        f"no OpInfo operator is known to call {overload}: run python -m opinfo.record"
    )
    report = check_native(overload, home_dtype(overload), "dl")
    right = report.ran > 0 and not report.problems
    native_counts(right)
    cause = cause_of(known, overload, "native", "float32")
    assert right == (cause is None), f"{report.text()}\nknown: {cause}"


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", OTHER_DTYPES, ids=lambda dtype: str(dtype)[6:])
@pytest.mark.parametrize("overload", claimed())
def test_claimed_operator_is_right_or_refuses_other_dtypes(
    overload: str, dtype: torch.dtype, known: dict[Key, str]
) -> None:
    report = check_native(overload, dtype, "dl")
    cause = cause_of(known, overload, "native", str(dtype)[6:])
    assert bool(report.problems) == (cause is not None), f"{report.text()}\nknown: {cause}"
