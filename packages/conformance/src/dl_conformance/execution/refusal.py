"""Check that an invalid call is refused: with an error that gives a reason, and no writes."""

from __future__ import annotations

from typing import Any

from diopi_proto import OperatorError, Tensor
from diopi_proto.errors import DiopiError
from diopi_proto.host.cabi import constants
from dl_conformance.case import Refusal

from .call import Call

DECLINED: dict[int, str] = {
    getattr(constants, name): name
    for name in ("diopiNoImplement", "diopiDtypeNotSupported", "diopi5DNotSupported")
}
"""Names of error codes that explain by themselves what a library does not support, by code."""


def words_of(error: OperatorError) -> str:
    """Return the library's own words for an error, without the operator's name; empty if it gave
    none."""
    return error.reason.removeprefix(f"[{error.operator}]").strip()


def check_refusal(call: Call, refusal: Refusal) -> tuple[str, str]:
    """Make a call that must be refused, and return cause and detail of a failure, or empty strings.

    The library has computed the valid call before, so declining this one counts as a refusal.
    """
    outputs = {p.name for p in call.operator.params if p.direction == "out"}
    before = {name: _contents(call.arguments.get(name)) for name in outputs}
    try:
        call.run()
    except OperatorError as error:
        if not error.reason and error.code not in DECLINED:
            return "refused without a reason", str(error)
    except DiopiError as error:
        return type(error).__name__, str(error)
    else:
        return "not refused", "an invalid call returned success"
    written = [name for name, kept in before.items() if _contents(call.arguments.get(name)) != kept]
    changed = [n for n in call.inputs.stored if n in call.arguments and not call.is_unchanged(n)]
    writable = {p.name for p in call.operator.params if p.direction != "in"}
    allowed = writable if refusal.in_data else set()
    faults = [x for x in (*written, *changed) if x not in allowed]
    if faults:
        return "wrong value", f"{', '.join(faults)}: written by a refused call"
    return "", ""


def _contents(value: Any) -> list[bytes]:
    """Return the bytes of a tensor, or of each tensor in a list."""
    several = value if isinstance(value, list) else [value]
    return [x.numpy().tobytes() for x in several if isinstance(x, Tensor)]
