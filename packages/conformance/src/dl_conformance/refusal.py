"""Whether a call that is wrong was refused: with an error that says why, and nothing written."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from diopi_proto import OperatorError, Tensor
from diopi_proto.errors import DiopiError

from .case import Refusal

if TYPE_CHECKING:
    from .execute import Outcome, Run

DECLINED = ("diopiNoImplement", "diopiDtypeNotSupported", "diopi5DNotSupported")
"""Statuses that say by themselves what a library does not take."""


def refusal(work: Run, wrong: Refusal, outcome: Callable[..., Outcome]) -> Outcome:
    """Make a call that has to be refused. The library has computed the right one before, so that
    to decline this one is to refuse it."""
    outputs = {p.name for p in work.operator.params if p.direction == "out"}
    before = {name: _contents(work.passed.get(name)) for name in outputs}
    try:
        work.vendor.op[work.case.operator](**work.passed)
    except OperatorError as error:
        if not error.reason and not any(f"({x}," in str(error) for x in DECLINED):
            return outcome("failed", "refused without a reason", str(error))
    except DiopiError as error:
        return outcome("failed", type(error).__name__, str(error))
    else:
        return outcome("failed", "not refused", "a wrong call returned success")
    written = [name for name, kept in before.items() if _contents(work.passed.get(name)) != kept]
    free = {p.name for p in work.operator.params if p.direction != "in"} if wrong.in_data else set()
    changed = [n for n in work.inputs if n in work.passed and not work.is_as_made(n)]
    faults = [x for x in (*written, *changed) if x not in free]
    if faults:
        return outcome("failed", "wrong value", f"{', '.join(faults)}: written by a refused call")
    return outcome("passed")


def _contents(value: Any) -> list[bytes]:
    """The elements of a tensor, or of a list of them."""
    several = value if isinstance(value, list) else [value]
    return [x.numpy().tobytes() for x in several if isinstance(x, Tensor)]
