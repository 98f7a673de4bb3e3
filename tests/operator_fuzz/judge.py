"""Comparison of a call on dl with the same call on torch's CPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from diopi_proto.tolerance import OpClass
from diopi_proto.tolerance.torch_operators.comparison import same_values, to_host
from dl_torch_tests.opinfo.relocate import Relocation
from dl_torch_tests.opinfo.sweep import Outcome, aliases, move, run, tensors_of, values_problem

from .calls import FuzzCall
from .overflow import without_overflow

EQUAL = "equal"
BOTH_REFUSE = "both refuse"
VARIES = "the CPU's own result varies"


@dataclass(frozen=True)
class Difference:
    """A call whose outcome on dl differs from the CPU's.

    :ivar kind: raises, accepts, error class, structure, device, dtype, shape, layout, strides,
        aliasing, argument, values, or overflow: values that differ only where the dtype of the call
        overflows on the CPU too.
    """

    call: FuzzCall
    kind: str
    text: str
    cpu: Outcome
    got: Outcome


def compare_devices(call: FuzzCall, device: str) -> Difference | str:
    """Run the call on the CPU and on ``device``; return a difference, or the common outcome."""
    judgement = call.target.judgement
    cpu = run(call.function, Relocation()(call.arguments))
    got = run(call.function, move(call.arguments, judgement, device))
    found = _problem(call, cpu, got, device)
    if found is None:
        return BOTH_REFUSE if cpu.error is not None else EQUAL
    if found[0] == "values" and _varies(call, cpu):
        return VARIES
    return Difference(call, *found, cpu, got)


def _problem(call: FuzzCall, cpu: Outcome, got: Outcome, device: str) -> tuple[str, str] | None:
    if cpu.error is not None or got.error is not None:
        return _error_problem(cpu.error, got.error)
    return _structure_problem(call, cpu, got, device) or _values_problem(call, cpu, got)


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}"


def _error_problem(cpu: Exception | None, got: Exception | None) -> tuple[str, str] | None:
    if got is None and cpu is not None:
        return "accepts", f"computes, the CPU raises {_first_line(cpu)}"
    if cpu is None and got is not None:
        return "raises", f"raises {_first_line(got)}"
    assert cpu is not None
    assert got is not None
    if not isinstance(got, type(cpu)):
        return "error class", f"raises {_first_line(got)}, the CPU {_first_line(cpu)}"
    return None


def _structure_problem(
    call: FuzzCall, cpu: Outcome, got: Outcome, device: str
) -> tuple[str, str] | None:
    have, want = tree_flatten(got.result)[1], tree_flatten(cpu.result)[1]
    if have != want:
        return "structure", f"the result is {have}, want {want}"
    strides = None
    for at, (result, expected) in enumerate(zip(got.leaves(), cpu.leaves(), strict=True)):
        if not isinstance(expected, torch.Tensor):
            continue
        for kind, left, right in _metadata(result, expected, device):
            if left != right:
                return kind, f"output {at}: {kind} is {left}, want {right}"
        if strides is None and expected.layout == torch.strided:
            strides = _strides_problem(call, at, result, expected)
    pairs = zip(tensors_of(got.arguments), tensors_of(cpu.arguments), strict=True)
    for at, (result, expected) in enumerate(pairs):
        for kind, left, right in _metadata(result, expected, device)[1:]:
            if left != right:
                return "argument", f"argument {at}: {kind} is {left} afterwards, want {right}"
    have, want = _shared(got), _shared(cpu)
    if have != want:
        return "aliasing", f"shares memory as {have}, want {want}"
    return strides and ("strides", strides)


def _shared(outcome: Outcome) -> list[tuple[str, int, int] | None]:
    """Return, for each result, the tensor with which it shares memory; empty results have none."""
    found = zip(aliases(outcome), tensors_of(outcome.result), strict=True)
    return [owner if tensor.numel() else None for owner, tensor in found]


def _metadata(have: Any, want: torch.Tensor, device: str) -> tuple[tuple[str, object, object], ...]:
    if not isinstance(have, torch.Tensor):
        return (("device", type(have).__name__, "a tensor"),)
    return (
        ("device", have.device.type, torch.device(device).type),
        ("dtype", have.dtype, want.dtype),
        ("shape", tuple(have.shape), tuple(want.shape)),
        ("layout", have.layout, want.layout),
    )


def _strides_problem(call: FuzzCall, at: int, have: torch.Tensor, want: torch.Tensor) -> str | None:
    """Describe strides that are neither the CPU's nor the meta kernel's, except of gradients."""
    if have.stride() == want.stride():
        return None
    meta = _on_meta(call)
    if meta is not None and len(meta) > at and meta[at] == have.stride():
        return None
    known = "" if meta is None or len(meta) <= at else f", meta {meta[at]}"
    return f"output {at} of {tuple(want.shape)}: {have.stride()}, CPU {want.stride()}{known}"


def _on_meta(call: FuzzCall) -> list[tuple[int, ...] | None] | None:
    outcome = run(call.function, Relocation("meta")(call.arguments))
    if outcome.error is not None:
        return None
    return [x.stride() if isinstance(x, torch.Tensor) else None for x in outcome.leaves()]


def _values_problem(call: FuzzCall, cpu: Outcome, got: Outcome) -> tuple[str, str] | None:
    judgement = call.target.judgement
    if judgement.uninitialised:
        return None
    if call.form == "gradient":
        judgement = replace(judgement, op_class=OpClass.REDUCTION, normwise=True)

    def problem(outcome: Outcome) -> str | None:
        return values_problem(call.function, call.arguments, cpu, outcome, judgement)

    found = problem(got)
    if found is None:
        return None
    settled = without_overflow(call, cpu, got)
    if settled is not None and problem(settled) is None:
        return "overflow", found
    return "values", found


def _varies(call: FuzzCall, cpu: Outcome) -> bool:
    """Return True if the CPU's result is not reproducible: it reads uninitialized memory."""
    other = run(call.function, Relocation()(call.arguments))
    if other.error is not None or not all(map(_same, other.values(), cpu.values())):
        return True
    with _filled_memory():
        other = run(call.function, Relocation()(call.arguments))
    return other.error is None and any(map(_is_filled, other.values(), cpu.values()))


@contextmanager
def _filled_memory() -> Iterator[None]:
    """Make torch fill new memory with nan, or with the largest integer."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def _is_filled(filled: Any, plain: Any) -> bool:
    """Return True if the fill value is visible where ``plain`` has other values."""
    if not isinstance(plain, torch.Tensor) or filled.shape != plain.shape:
        return False
    left, right = to_host(filled), to_host(plain)
    if left.dtype.is_floating_point or left.dtype.is_complex:
        return bool((left.isnan() & ~right.isnan()).any())
    mark = 1 if left.dtype == torch.bool else torch.iinfo(left.dtype).max
    return bool(((left == mark) & (right != mark)).any())


def _same(left: Any, right: Any) -> bool:
    if isinstance(right, torch.Tensor):
        return left.shape == right.shape and same_values(to_host(left), to_host(right))
    return bool(left == right) or (left != left and right != right)
