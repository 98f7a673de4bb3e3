"""Tests of every operator in torch's database."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

from ..opinfo.gradients import check_backward
from ..opinfo.operators import full_name
from ..opinfo.sweep import check_forward
from ..opinfo.written_forms import check_in_place, check_out
from .autocast import check_autocast
from .case import SAMPLES, Case, Check
from .forms import (
    check_errors,
    check_methods,
    check_out_dtype,
    check_second_gradients,
    methods_of,
)
from .kinds import NO_REFERENCE
from .layouts import check_layouts, check_sizes
from .transport import check_travel, copies, dlpack, save

FLOATING = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
GRADIENTS = (*FLOATING, torch.complex64, torch.complex128)
LAYOUT_DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.complex64)
FORM_DTYPES = (torch.float32, torch.int64, torch.complex64)
TRAVEL_DTYPES = (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64)
LOW = (torch.bfloat16, torch.float16)
WRITTEN_SAMPLES = 2
"""Maximum number of samples of out= and in-place tests, each written to several targets."""

CHECKS: dict[str, Check] = {
    "forward": partial(check_forward, limit=SAMPLES),
    "backward": partial(check_backward, limit=SAMPLES),
    "gradgrad": check_second_gradients,
    "out": partial(check_out, limit=WRITTEN_SAMPLES),
    "out-dtype": check_out_dtype,
    "in-place": partial(check_in_place, limit=WRITTEN_SAMPLES),
    "method": check_methods,
    "layouts": check_layouts,
    "sizes": check_sizes,
    "errors": check_errors,
    "autocast": check_autocast,
    "save": partial(check_travel, save),
    "copy": partial(check_travel, copies),
    "dlpack": partial(check_travel, dlpack),
}


def dtypes_of(op: Any, kind: str) -> tuple[torch.dtype, ...]:
    """Return the dtypes in which the operator is tested by this kind."""
    every = tuple(sorted(op.dtypes, key=str))
    chosen: dict[str, tuple[torch.dtype, ...]] = {
        "forward": every,
        "backward": GRADIENTS if op.supports_autograd else (),
        "gradgrad": (torch.float64,) if op.supports_autograd and op.supports_gradgrad else (),
        "out": every if op.supports_out else (),
        "out-dtype": tuple(FORM_DTYPES[:2]) if op.supports_out else (),
        "in-place": every if op.inplace_variant is not None else (),
        "method": FORM_DTYPES if methods_of(op) else (),
        "layouts": LAYOUT_DTYPES,
        "sizes": FORM_DTYPES,
        "errors": (torch.float32,) if op.error_inputs_func is not None else (),
        "autocast": LOW if torch.float32 in op.dtypes else (),
    }
    wanted = chosen.get(kind, TRAVEL_DTYPES)
    if (full_name(op), kind) in NO_REFERENCE:
        return ()
    if kind in ("errors", "autocast"):
        return wanted
    has = op.dtypes & op.backward_dtypes if kind in ("backward", "gradgrad") else op.dtypes
    return tuple(dtype for dtype in wanted if dtype in has)


def operator_cases() -> Iterator[Case]:
    """Yield every operator, in every dtype, with every applicable kind of check."""
    for kind, check in CHECKS.items():
        for op in op_db:
            for dtype in dtypes_of(op, kind):
                yield Case.of(full_name(op), kind, dtype, check, op)
