"""Reader of a library's data: ``library.yaml``, the signature table and ``operators/*.yaml``.

It checks the form of the files; :mod:`dl_vendor_kit.library.check` checks their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from .library_file import read_library
from .located import DataError, Place, Value, read
from .model import Case, Data, Entry, Text

_CASE_KEYS = frozenset(
    (
        *("when", "needs", "dtypes", "format", "contiguous", "upcast", "temporaries", "call"),
        *("calls", "each", "function", "unused", "workspace"),
    )
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def load(folder: Path, shown: str | None = None) -> Data:
    """Read ``library.yaml``, the signature table and ``operators/*.yaml``.

    :param shown: the path of the folder in findings; default: the folder itself.
    :raises DataError: ``library.yaml`` or the signature table is invalid.
    """
    library = read_library(folder, shown or str(folder))
    data = Data(library)
    seen: dict[str, Place] = {}
    for file in sorted((folder / "operators").glob("*.yaml")):
        try:
            root = read(file, f"{library.shown}/operators/{file.name}")
            entries = root.mapping(file.name)
        except DataError as error:
            data.findings.append(error.finding)
            continue
        for name, value in entries.items():
            where = root.places[name]
            try:
                if name in seen:
                    raise DataError(where, name, f"is already described at {seen[name]}")
                seen[name] = where
                data.entries.append(Entry(name, file.stem, where, _cases(name, value)))
            except DataError as error:
                data.findings.append(error.finding)
    return data


def _cases(name: str, value: Value) -> tuple[Case, ...]:
    items = value.items(name) if not isinstance(value.value, dict) else [value]
    if not items or (len(items) == 1 and items[0].value is None):
        raise DataError(value.where, name, "has no case; remove the entry, or add a call")
    return tuple(_case(name, item, number) for number, item in enumerate(items, start=1))


def _case(name: str, value: Value, number: int) -> Case:
    subject = f"{name}, case {number}"
    if isinstance(value.value, str):
        return Case(value.where, number, calls=(Text(value.value, value.where),))
    keys = value.mapping(subject, _CASE_KEYS)

    def one(key: str) -> Text | None:
        return Text(keys[key].text(subject), keys[key].where) if key in keys else None

    def many(key: str) -> tuple[Text, ...]:
        if key not in keys:
            return ()
        return tuple(Text(x.text(subject), x.where) for x in keys[key].items(subject))

    given = [key for key in ("call", "calls", "function") if key in keys]
    if len(given) != 1:
        raise DataError(value.where, subject, "needs exactly one of 'call', 'calls', 'function'")
    function = keys["function"].text(subject) if "function" in keys else ""
    if function and not all(_IDENTIFIER.fullmatch(x) for x in function.split("::")):
        raise DataError(keys["function"].where, subject, f"{function!r} is not a C++ function")
    if "function" in keys and {"temporaries", "each", "contiguous", "upcast", "format"} & set(keys):
        raise DataError(
            value.where, subject, "next to 'function', only 'when', 'needs' and 'dtypes' are valid"
        )
    dtypes: dict[str, tuple[str, ...]] = {}
    if "dtypes" in keys:
        for parameter, listed in keys["dtypes"].mapping(subject).items():
            dtypes[parameter] = tuple(x.text(subject) for x in listed.items(subject))
    formats = _by_name(keys.get("format"), subject)
    calls = many("calls") or ((one("call"),) if "call" in keys else ())
    if not calls and not function:
        raise DataError(value.where, subject, "'calls' is empty")
    return Case(
        where=value.where,
        number=number,
        when=one("when"),
        needs=many("needs"),
        dtypes=dtypes,
        format={name: text.text for name, text in formats.items()},
        contiguous=many("contiguous"),
        upcast=many("upcast"),
        temporaries=_temporaries(keys.get("temporaries"), subject),
        calls=tuple(x for x in calls if x is not None),
        each=one("each"),
        unused=many("unused"),
        workspaces=_by_name(keys.get("workspace"), subject),
        function=function,
        places={
            (key, name): place
            for key in ("dtypes", "format")
            if key in keys
            for name, place in (keys[key].places or {"": keys[key].where}).items()
        },
    )


def _by_name(given: Value | None, subject: str) -> Mapping[str, Text]:
    """Return the texts of a mapping, or one text for all names by the key ``""``."""
    if given is None:
        return {}
    if isinstance(given.value, dict):
        return {k: Text(v.text(subject), v.where) for k, v in given.mapping(subject).items()}
    return {"": Text(given.text(subject), given.where)}


def _temporaries(given: Value | None, subject: str) -> Mapping[str, Text]:
    found: dict[str, Text] = {}
    for name, text in ({} if given is None else given.mapping(subject)).items():
        if not _IDENTIFIER.fullmatch(name):
            raise DataError(
                text.where,
                subject,
                f"{name!r} cannot be a temporary's name; use letters, digits and _",
            )
        found[name] = Text(text.text(subject), text.where)
    return found
