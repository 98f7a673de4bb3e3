"""Operators that a vendor claims: run with the fallback forbidden, and correct."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

from dl_torch_tests.opinfo.gradients import gradient_cases
from dl_torch_tests.opinfo.operators import Judgement, full_name
from dl_torch_tests.opinfo.relocate import Relocation
from dl_torch_tests.opinfo.sweep import (
    Arguments,
    Call,
    compare_outcomes,
    describe,
    move,
    run,
    samples_of,
    tensors_of,
)

from .callers import read
from .direct_cases import CASES as DIRECT

REFUSED = re.compile(r"\[dl\] aten::(\S+) does not run natively")
PLAIN_DTYPES = (torch.float32, torch.int64, torch.bool)
"""Dtypes of values, indices and masks."""

NATIVE_CALLS = Path(__file__).with_name("native_calls.txt")

# Tables of the modules native_<topic>.py of this folder: plain samples that dl-core leaves to the
# CPU (a pattern for describe(), and the reason), and overloads with cases of their own. The OpInfo
# operators that call other overloads are recorded: see record.py.
DECLARED: dict[str, tuple[str, str]] = {}
CASES: dict[str, Any] = dict(DIRECT)

for _found in sorted(Path(__file__).parent.glob("native_*.py")):
    _topic = import_module(f"{__package__}.{_found.stem}")
    for _name, _table in (
        ("DECLARED", DECLARED),
        ("CASES", CASES),
    ):
        _added = getattr(_topic, _name, {})
        assert not _added.keys() & _table.keys(), f"{_found.name} repeats entries of other tables"
        _table.update(_added)


def is_declared(overload: str, arguments: Arguments) -> bool:
    """Return True if dl-core declares that it leaves such a call to the CPU."""
    return overload in DECLARED and bool(re.match(DECLARED[overload][0], describe(arguments)))


@dataclass
class NativeReport:
    """The outcome of one claimed overload."""

    overload: str
    ran: int = 0
    """Number of calls that ran in the vendor's code."""
    right: int = 0
    refused: int = 0
    problems: list[str] = field(default_factory=list)

    def text(self) -> str:
        return (
            f"{self.overload}: the vendor's code ran {self.ran} times, {self.right} samples right, "
            f"{self.refused} refused\n" + "\n".join(self.problems[:5])
        )


def exercising(overload: str) -> list[tuple[Any, str]]:
    """Return the operators that call ``overload``, with the mode; empty if none is known.

    The vendor does not see overloads that core composes from other operators: these are called by
    the OpInfo operators of their name.
    """
    if overload in CASES:
        return [(CASES[overload], "forward")]
    callers = read(NATIVE_CALLS).get(overload)
    if callers is None:
        return [(op, "forward") for op in op_db if full_name(op) == overload]
    return [(op, callers.mode) for op in op_db if full_name(op) in callers.operators]


def home_dtype(overload: str) -> torch.dtype:
    """Return float32, or int64 for operators on integers."""
    found = exercising(overload)
    return torch.float32 if not found or torch.float32 in found[0][0].dtypes else torch.int64


def check_native(overload: str, dtype: torch.dtype, device: str) -> NativeReport:
    """Run every sample that may call ``overload``, in ``dtype``, with the fallback forbidden.

    In its home dtype the vendor's code has to run on plain samples; in others it may decline.
    """
    report = NativeReport(overload)
    at_home = dtype == home_dtype(overload)
    torch.dl.reset_native_stats()
    with torch.dl.fallback("error"), torch.dl.profile_operators():
        for op, mode in exercising(overload):
            differentiable = dtype.is_floating_point or dtype.is_complex
            if mode == "backward" and not differentiable:
                continue
            if dtype in (op.dtypes if mode == "forward" else op.backward_dtypes):
                for call, arguments in _calls(op, mode, dtype):
                    judgement = Judgement.of(op)
                    if mode == "backward":  # as for gradients in general: see gradients.py
                        judgement = replace(judgement, normwise=True)
                    must_run = at_home and not is_declared(overload, arguments)
                    _one(report, op, judgement, call, arguments, device, must_run)
    report.ran = torch.dl.native_stats().get(overload, {"count": 0})["count"]
    return report


def _calls(op: Any, mode: str, dtype: torch.dtype) -> Iterator[tuple[Call, Arguments]]:
    if mode == "backward":
        yield from gradient_cases(op, dtype)
        return

    def call(arguments: Arguments) -> Any:
        first, args, kwargs = arguments
        return op(first, *args, **kwargs)

    for arguments in samples_of(op, dtype):
        yield call, arguments


def _one(
    report: NativeReport,
    op: Any,
    judgement: Judgement,
    call: Call,
    original: Arguments,
    device: str,
    must_run: bool,
) -> None:
    cpu = run(call, Relocation()(original))
    got = run(call, move(original, judgement, device))
    refusal = REFUSED.match(str(got.error)) if got.error is not None else None
    if refusal is None:
        problem, _ = compare_outcomes(call, original, cpu, got, judgement, device)
        report.right += problem is None
    else:
        problem = None
        report.refused += 1
        if must_run and refusal[1] == report.overload and is_plain(original):
            problem = f"refused although plain: {got.error}"
    if problem is not None:
        report.problems.append(f"{full_name(op)} {describe(original)}: {problem}")


def is_plain(arguments: Arguments) -> bool:
    """Return True for contiguous, non-empty tensors, float32 except for indices and masks."""
    return all(
        tensor.layout == torch.strided
        and tensor.is_contiguous()
        and tensor.numel() > 0
        and tensor.dtype in PLAIN_DTYPES
        for tensor in tensors_of(arguments)
    )
