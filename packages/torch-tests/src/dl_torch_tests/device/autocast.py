"""Operators under autocast: in its dtype or a wider one, and right for that dtype."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import torch

from diopi_proto.tolerance import OpClass
from dl_optools.relocation import WIDER

from ..opinfo.operators import Judgement, full_name
from ..opinfo.relocate import Relocation
from ..opinfo.sweep import (
    Arguments,
    Outcome,
    Report,
    is_random,
    move,
    refusal_problem,
    run,
    samples_of,
    values_problem,
)
from .case import SAMPLES
from .layouts import changed, plain


def check_autocast(op: Any, dtype: torch.dtype, device: str) -> Report:
    """Check samples in float32 under autocast to ``dtype``."""
    report = Report(f"{full_name(op)} autocast {dtype}")
    for at, sample in enumerate(samples_of(op, torch.float32, SAMPLES)):
        # Values that autocast would round are rounded first, so that both sides have the same
        # inputs.
        original = changed(sample, lambda tensor: _rounded_as(tensor, dtype))
        report.samples += 1
        report.add(at, original, _problem(op, dtype, original, device))
    return report


def _problem(op: Any, dtype: torch.dtype, original: Arguments, device: str) -> str | None:
    judgement = replace(Judgement.of(op), op_class=OpClass.REDUCTION, normwise=True)

    def under_autocast(arguments: Arguments, kind: str) -> Any:
        with torch.autocast(kind, dtype=dtype):
            return plain(op)(arguments)

    kind = torch.device(device).type
    got = run(partial(under_autocast, kind=kind), move(original, judgement, device))
    on_cpu = run(partial(under_autocast, kind="cpu"), Relocation()(original))
    exact = run(plain(op), Relocation()(original))
    if got.error is not None:
        # Each device has its own autocast lists: an error of either reference is accepted.
        return refusal_problem(on_cpu.error or exact.error, got.error)
    if exact.error is not None:
        return None
    for have, want in zip(got.leaves(), exact.leaves(), strict=True):
        if isinstance(want, torch.Tensor):
            if have.shape != want.shape:
                return f"shape is {tuple(have.shape)}, want {tuple(want.shape)}"
            if have.dtype not in (want.dtype, dtype, WIDER.get(want.dtype)):
                return f"dtype is {have.dtype}, want {want.dtype} or {dtype}"
    if judgement.uninitialised or is_random(plain(op), original, exact):
        return None
    return values_problem(
        plain(op), original, _rounded(exact, dtype), _rounded(got, dtype), judgement
    )


def _rounded_as(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return tensor.to(dtype).to(tensor.dtype) if tensor.dtype == torch.float32 else tensor


def _rounded(outcome: Outcome, dtype: torch.dtype) -> Outcome:
    """Round floating-point results to the dtype of autocast; arguments are unchanged."""

    def one(value: Any) -> Any:
        is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
        return value.to(dtype) if is_float else value

    return Outcome(outcome.arguments, [one(leaf) for leaf in outcome.leaves()])
