"""Validation of the descriptors that the hooks ``dl_vendor`` and ``dl_operators`` return."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diopi_proto.descriptor import AddedOperators, VendorDescriptor
from diopi_proto.text import printable
from diopi_proto.trust import why_untrusted
from dl_core.errors import PluginError, UntrustedError

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_LONGEST = 200
_MOST_PRIORITY = 1_000_000

_FIELDS: dict[str, tuple[tuple[type, ...], str]] = {
    "name": ((str,), "a string"),
    "library": ((str, Path), "a path"),
    "version": ((str,), "a string"),
    "priority": ((int,), "an integer"),
    "accelerator": ((bool,), "True or False"),
    "legacy": ((bool,), "True or False"),
    "status": ((str,), "a string"),
}
_FUNCTIONS = ("present", "simulated", "libraries")


def validate(answer: object) -> VendorDescriptor:
    """Return a copy of the descriptor with validated fields.

    :raises PluginError: it is not a descriptor, or a field is invalid.
    :raises UntrustedError: other users can write to its library.
    """
    if not isinstance(answer, VendorDescriptor):
        raise PluginError(
            f"dl_vendor returned {_format(answer)}, not a diopi_proto.VendorDescriptor"
        )
    fields = {field: _field(answer, field) for field in _FIELDS}
    if not _NAME.fullmatch(fields["name"]):
        raise PluginError(
            f"dl_vendor returned the name {_format(fields['name'])}; a name has up to 64 lower "
            "case letters, digits, '-' and '_', of which the first is a letter"
        )
    if not -_MOST_PRIORITY <= fields["priority"] <= _MOST_PRIORITY:
        raise PluginError(f"dl_vendor returned a priority beyond {_MOST_PRIORITY}")
    adaptor = answer.adaptor
    if adaptor is not None:
        fields["adaptor"] = _adaptor(adaptor, legacy=fields["legacy"])
    if answer.runtime is not None:
        fields["runtime"] = _runtime(answer.runtime, legacy=fields["legacy"])
    for field in _FUNCTIONS:
        function = fields[field] = getattr(answer, field)
        if function is not None and not callable(function):
            shown = f"{field}={_format(function)}"
            raise PluginError(f"dl_vendor returned {shown}, which is not callable")
    fields["library"] = Path(fields["library"])
    for field in ("version", "status"):
        fields[field] = printable(fields[field], _LONGEST)
    reason = why_untrusted(fields["library"])
    if reason is not None:
        raise UntrustedError(f"its library {fields['library']} is not loaded: {reason}")
    return VendorDescriptor(**fields)


def validate_added(answer: object) -> list[AddedOperators]:
    """Return copies of the descriptors with validated fields.

    :raises PluginError: it is not a sequence of descriptors, or a field is invalid.
    :raises UntrustedError: other users can write to a library.
    """
    if not isinstance(answer, Sequence) or isinstance(answer, str):
        raise PluginError(
            f"dl_operators returned {_format(answer)}, not a sequence of diopi_proto.AddedOperators"
        )
    found: dict[tuple[str, str], AddedOperators] = {}
    for each in answer:
        one = _added(each)
        if (one.vendor, one.name) in found:
            raise PluginError(
                f"dl_operators returned the name {one.name!r} twice for vendor {one.vendor!r}"
            )
        found[one.vendor, one.name] = one
    return list(found.values())


def _added(answer: object) -> AddedOperators:
    if not isinstance(answer, AddedOperators):
        raise PluginError(
            f"dl_operators returned {_format(answer)}, which is not a diopi_proto.AddedOperators"
        )
    for field in ("name", "vendor"):
        value = getattr(answer, field)
        if not isinstance(value, str) or not _NAME.fullmatch(value):
            raise PluginError(
                f"dl_operators returned {field}={_format(value)}; a name has up to 64 lower case "
                "letters, digits, '-' and '_', of which the first is a letter"
            )
    priority = answer.priority
    if (
        not isinstance(priority, int)
        or isinstance(priority, bool)
        or abs(priority) > _MOST_PRIORITY
    ):
        raise PluginError(
            f"dl_operators returned priority={_format(priority)}, which must be an integer up to "
            f"{_MOST_PRIORITY}"
        )
    if answer.present is not None and not callable(answer.present):
        raise PluginError(
            f"dl_operators returned present={_format(answer.present)}, which is not callable"
        )
    if not isinstance(answer.library, str | Path):
        raise PluginError(
            f"dl_operators returned library={_format(answer.library)}, which must be a path"
        )
    reason = why_untrusted(answer.library)
    if reason is not None:
        raise UntrustedError(f"its library {answer.library} is not loaded: {reason}")
    return AddedOperators(
        answer.name, answer.vendor, Path(answer.library), priority, answer.present
    )


def _adaptor(path: object, *, legacy: bool) -> Path:
    if not isinstance(path, str | Path):
        raise PluginError(f"dl_vendor returned adaptor={_format(path)}, which must be a path")
    if legacy:
        raise PluginError(
            f"dl_vendor returned adaptor={_format(path)} with legacy=True; libraries in DIOPI's "
            "own style have no adaptor"
        )
    reason = why_untrusted(Path(path))
    if reason is not None:
        raise UntrustedError(f"its adaptor file {path} is not read: {reason}")
    return Path(path)


def _runtime(path: object, *, legacy: bool) -> Path:
    if not isinstance(path, str | Path):
        raise PluginError(f"dl_vendor returned runtime={_format(path)}, which must be a path")
    if not legacy:
        raise PluginError(
            f"dl_vendor returned runtime={_format(path)} without legacy=True; a library with a "
            "vendor table is its own runtime"
        )
    reason = why_untrusted(Path(path))
    if reason is not None:
        raise UntrustedError(f"its runtime {path} is not loaded: {reason}")
    return Path(path)


def _field(answer: VendorDescriptor, field: str) -> Any:
    value = getattr(answer, field)
    types, expected = _FIELDS[field]
    if not isinstance(value, types) or (bool not in types and isinstance(value, bool)):
        raise PluginError(f"dl_vendor returned {field}={_format(value)}, which must be {expected}")
    return value


def _format(value: object) -> str:
    return printable(repr(value), _LONGEST)
