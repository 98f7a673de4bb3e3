"""Reader of the vendor's own helpers in ``library.yaml``."""

from __future__ import annotations

import re

from .helpers import HELPERS, KINDS, VIEWS, Helper
from .located import DataError, Value, close_names, quote
from .names import identifier_problem, qualified_problem

_KEYS = frozenset(("takes", "returns", "function", "context", "doc"))
_KIND = re.compile(r"(?P<kind>[a-z_]+)\??&?(?P<repeated>\*?)", re.ASCII)
_VALUES = KINDS - {"null"}
"""Kinds of the arguments and the results of helpers."""


def read_helpers(given: Value | None) -> dict[str, Helper]:
    """Return the helpers by their names.

    :raises DataError: a helper is invalid.
    """
    found: dict[str, Helper] = {}
    if given is None:
        return found
    for name, value in given.mapping("helpers").items():
        reason = identifier_problem(name, "the name of a helper")
        if name in VIEWS or name in HELPERS:
            reason = f"{quote(name)} is a helper or view of the kit; choose another name"
        if reason:
            raise DataError(given.places[name], "helpers", reason)
        found[name] = _helper(f"helper @{name}", value)
    return found


def _helper(subject: str, value: Value) -> Helper:
    keys = value.mapping(subject, _KEYS)
    if "returns" not in keys or "function" not in keys:
        raise DataError(value.where, subject, "needs 'returns' and 'function'; add them")
    takes = keys["takes"].items(subject) if "takes" in keys else []
    kinds = tuple(_kind(x, subject, last=x is takes[-1]) for x in takes)
    returns = keys["returns"].text(subject)
    if returns not in _VALUES:
        raise _not_a_kind(keys["returns"], subject, returns)
    if returns != "action" and any("&" in kind for kind in kinds):
        raise DataError(
            value.where,
            subject,
            "only a helper that returns an action writes a tensor; remove &, or write 'returns: "
            "action'",
        )
    function = keys["function"].text(subject)
    reason = qualified_problem(function, "a C++ function")
    if reason:
        raise DataError(keys["function"].where, subject, reason)
    return Helper(
        kinds,
        returns,
        function,
        "context" in keys and keys["context"].boolean(subject),
        keys["doc"].text(subject) if "doc" in keys else "",
    )


def _kind(value: Value, subject: str, *, last: bool) -> str:
    """Return the kind of an argument, with its marks."""
    kind = value.text(subject)
    match = _KIND.fullmatch(kind)
    if match is None or match["kind"] not in _VALUES:
        raise _not_a_kind(value, subject, kind)
    if match["repeated"] and not last:
        raise DataError(
            value.where, subject, f"{quote(kind)}: only the last argument is repeated; remove *"
        )
    if "&" in kind and match["kind"] != "tensor":
        raise DataError(value.where, subject, f"{quote(kind)}: only a tensor is written; remove &")
    return kind


def _not_a_kind(value: Value, subject: str, kind: str) -> DataError:
    return DataError(
        value.where,
        subject,
        f"{quote(kind)} is not a kind of value{close_names(kind, _VALUES)}; the kinds are "
        f"{', '.join(sorted(_VALUES))}",
    )
