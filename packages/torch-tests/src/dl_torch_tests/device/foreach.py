"""Tests of the operators in torch's databases that process lists of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch.testing._internal import common_methods_invocations as databases

from ..opinfo.gradients import check_backward
from ..opinfo.operators import Judgement, full_name
from ..opinfo.sweep import Arguments, Report, check_forward, compare_calls, samples_of
from .case import SAMPLES, Case, Check
from .layouts import check_layouts

DTYPES = (
    torch.float32,
    torch.float64,
    torch.bfloat16,
    torch.float16,
    torch.int64,
    torch.int32,
    torch.uint8,
    torch.bool,
    torch.complex64,
    torch.complex128,
)
GRADIENTS = (torch.float32, torch.float64, torch.complex64)
DATABASES = (
    databases.foreach_unary_op_db,
    databases.foreach_binary_op_db,
    databases.foreach_pointwise_op_db,
    databases.foreach_reduce_op_db,
    databases.foreach_other_op_db,
)


def check_in_place(op: Any, dtype: torch.dtype, device: str) -> Report:
    """Check the in-place variant: the written arguments are compared."""
    report = Report(f"{full_name(op)} {dtype} in place")

    def call(arguments: Arguments) -> Any:
        first, args, kwargs = arguments
        op.inplace_variant(first, *args, **kwargs)

    for at, original in enumerate(samples_of(op, dtype, SAMPLES)):
        problem, refused = compare_calls(call, original, Judgement.of(op), device)
        report.samples += 1
        report.refused += refused
        report.add(at, original, problem)
    return report


CHECKS: dict[str, Check] = {
    "foreach-forward": partial(check_forward, limit=SAMPLES),
    "foreach-in-place": check_in_place,
    "foreach-backward": partial(check_backward, limit=SAMPLES),
    "foreach-layouts": check_layouts,
}


def has(op: Any, kind: str, dtype: torch.dtype) -> bool:
    if dtype not in op.dtypes:
        return False
    if kind == "foreach-in-place":
        return op.inplace_variant is not None
    if kind == "foreach-backward":
        return bool(op.supports_autograd) and op.method_variant is not None and dtype in GRADIENTS
    return op.method_variant is not None


def foreach_cases() -> Iterator[Case]:
    """Yield every operator, in every dtype, with every applicable kind of check."""
    for kind, check in CHECKS.items():
        for op in chain(*DATABASES):
            for dtype in DTYPES:
                if has(op, kind, dtype):
                    yield Case.of(full_name(op), kind, dtype, check, op)
