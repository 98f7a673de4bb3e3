"""Reader of the cases of an operator in ``operators/*.yaml``."""

from __future__ import annotations

from collections.abc import Mapping

from .located import DataError, Value, quote
from .model import Case, Text
from .names import identifier_problem, qualified_problem

_CASE_KEYS = frozenset(
    (
        *("when", "needs", "dtypes", "format", "contiguous", "upcast", "temporaries", "call"),
        *("calls", "each", "function", "unused", "workspace"),
    )
)
_KEYS_OF_FUNCTION = frozenset(("function", "when", "needs", "dtypes"))


def read_cases(name: str, value: Value) -> tuple[Case, ...]:
    """Return the cases of an operator.

    :raises DataError: a case is invalid.
    """
    items = value.items(name) if not isinstance(value.value, dict) else [value]
    if not items or (len(items) == 1 and items[0].value is None):
        raise DataError(value.where, name, "has no case; remove the entry, or add a call")
    seen: dict[str, int] = {}
    for number, item in enumerate(items, start=1):
        text = _plain(item)
        if text in seen:
            raise DataError(
                item.where,
                f"{name}, case {number}",
                f"is the same as case {seen[text]}, after which it is never tried; remove it",
            )
        seen[text] = number
    return tuple(_case(name, item, number) for number, item in enumerate(items, start=1))


def _plain(value: Value) -> str:
    """Return a text that is the same for equal values."""
    if isinstance(value.value, dict):
        return repr({key: _plain(each) for key, each in sorted(value.value.items())})
    if isinstance(value.value, list):
        return repr([_plain(each) for each in value.value])
    return repr(value.raw)


def _case(name: str, value: Value, number: int) -> Case:
    subject = f"{name}, case {number}"
    if isinstance(value.value, str):
        return Case(value.where, number, calls=(_expression(value, subject),))
    keys = value.mapping(subject, _CASE_KEYS)
    given = [key for key in ("call", "calls", "function") if key in keys]
    if len(given) != 1:
        reason = f"has {' and '.join(given)}; remove one" if given else "add one"
        raise DataError(
            value.where, subject, f"needs exactly one of 'call', 'calls', 'function': {reason}"
        )
    function = _function(keys, subject)
    dtypes: dict[str, tuple[str, ...]] = {}
    if "dtypes" in keys:
        for parameter, listed in keys["dtypes"].mapping(subject).items():
            names = _different(listed, f"dtypes of {parameter}", subject)
            dtypes[parameter] = tuple(x.text for x in names)
    calls: tuple[Text, ...] = ()
    for key in ("call", "calls"):
        if key in keys:
            items = keys[key].items(subject) if key == "calls" else [keys[key]]
            if not items:
                raise DataError(keys[key].where, subject, "'calls' is empty; add a call")
            calls = tuple(_expression(x, subject) for x in items)
    formats = _by_name(keys.get("format"), subject)
    return Case(
        where=value.where,
        number=number,
        when=_expression(keys["when"], subject) if "when" in keys else None,
        needs=_names(keys, "needs", subject),
        dtypes=dtypes,
        format={name: text.text for name, text in formats.items()},
        contiguous=_names(keys, "contiguous", subject),
        upcast=_names(keys, "upcast", subject),
        temporaries=_temporaries(keys.get("temporaries"), subject),
        calls=calls,
        each=_expression(keys["each"], subject) if "each" in keys else None,
        unused=_names(keys, "unused", subject),
        workspaces=_by_name(keys.get("workspace"), subject),
        function=function,
        places={
            (key, name): place
            for key in ("dtypes", "format")
            if key in keys
            for name, place in (keys[key].places or {"": keys[key].where}).items()
        },
    )


def _expression(value: Value, subject: str) -> Text:
    return Text(value.expression(subject), value.where)


def _function(keys: Mapping[str, Value], subject: str) -> str:
    """Return the name of a C++ function; empty if the case has calls."""
    if "function" not in keys:
        return ""
    function = keys["function"].text(subject)
    reason = qualified_problem(function, "a C++ function")
    if reason:
        raise DataError(keys["function"].where, subject, reason)
    other = sorted(keys.keys() - _KEYS_OF_FUNCTION)
    if other:
        raise DataError(
            keys[other[0]].where,
            subject,
            "next to 'function', only 'when', 'needs' and 'dtypes' are valid; remove "
            f"{other[0]!r}, or write calls",
        )
    return function


def _names(keys: Mapping[str, Value], key: str, subject: str) -> tuple[Text, ...]:
    return _different(keys[key], key, subject) if key in keys else ()


def _different(value: Value, key: str, subject: str) -> tuple[Text, ...]:
    """Return the names of a list, which differ."""
    found: dict[str, Text] = {}
    for each in value.items(subject):
        name = each.text(subject)
        if name in found:
            raise DataError(each.where, subject, f"{key}: {quote(name)} occurs twice; remove one")
        found[name] = Text(name, each.where)
    if not found:
        raise DataError(value.where, subject, f"{key}: the list is empty; add a name, or remove it")
    return tuple(found.values())


def _by_name(given: Value | None, subject: str) -> Mapping[str, Text]:
    """Return the texts of a mapping, or one text for all names by the key ``""``."""
    if given is None:
        return {}
    if isinstance(given.value, dict):
        return {k: _expression(v, subject) for k, v in given.mapping(subject).items()}
    return {"": _expression(given, subject)}


def _temporaries(given: Value | None, subject: str) -> Mapping[str, Text]:
    found: dict[str, Text] = {}
    for name, value in ({} if given is None else given.mapping(subject)).items():
        reason = identifier_problem(name, "the name of a temporary")
        if reason:
            raise DataError(value.where, subject, reason)
        found[name] = _expression(value, subject)
    return found
