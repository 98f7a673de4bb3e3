"""Every operator in torch's own list, on dl compared with the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

from ..vendor_lists import VendorLists
from .fixtures import Verdict
from .gradients import check_backward
from .operators import full_name
from .sweep import Report, check_forward
from .without_fallback import NAME, listed
from .written_forms import check_in_place, check_out

# Many operators of torch emit deprecation warnings.
pytestmark = pytest.mark.filterwarnings("ignore")

Check = Callable[[Any, torch.dtype, str], Report]

CHECKS: dict[str, Check] = {
    "forward": check_forward,
    "out": check_out,
    "in-place": check_in_place,
    "backward": check_backward,
}
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


def has_mode(op: Any, mode: str, dtype: torch.dtype) -> bool:
    """Return True if the operator claims to have this form in this dtype on the CPU."""
    if mode == "out":
        return bool(op.supports_out)
    if mode == "in-place":
        return op.inplace_variant is not None
    if mode == "backward":
        differentiable = dtype.is_floating_point or dtype.is_complex
        return bool(op.supports_autograd) and differentiable and dtype in op.backward_dtypes
    return True


def cases(dtypes: tuple[torch.dtype, ...], modes: tuple[str, ...]) -> list[Any]:
    return [
        pytest.param(op, mode, dtype, id=f"{mode}-{str(dtype)[6:]}-{full_name(op)}")
        for mode in modes
        for dtype in dtypes
        for op in op_db
        if dtype in op.dtypes and has_mode(op, mode, dtype)
    ]


@pytest.mark.parametrize(("op", "mode", "dtype"), cases((torch.float32,), ("forward",)))
def test_operator_is_right(
    op: Any,
    mode: str,
    dtype: torch.dtype,
    verdict: Verdict,
    lists: VendorLists,
    without_fallback: Callable[[Any, bool], None],
) -> None:
    torch.dl.reset_fallback_stats()
    report = CHECKS[mode](op, dtype, "dl")
    fell_back = sorted(torch.dl.fallback_stats())
    verdict.judge(report, full_name(op), mode, dtype)
    native = report.samples > 0 and not fell_back and not report.problems
    without_fallback(op, native)
    names = listed(verdict.vendor, lists)
    if full_name(op) in names:
        assert native, f"{full_name(op)} is listed to need no fallback; fell back: {fell_back}"
    else:
        assert not native or not names, (
            f"{full_name(op)} needs no fallback: add it to {lists.find(verdict.vendor, NAME)}"
        )


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("op", "mode", "dtype"),
    cases((torch.float32,), ("out", "in-place", "backward")) + cases(OTHER_DTYPES, tuple(CHECKS)),
)
def test_form_and_dtype_are_right(op: Any, mode: str, dtype: torch.dtype, verdict: Verdict) -> None:
    verdict.judge(CHECKS[mode](op, dtype, "dl"), full_name(op), mode, dtype)
