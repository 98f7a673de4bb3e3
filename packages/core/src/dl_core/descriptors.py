"""Validation of the descriptor that a ``dl_vendor`` hook returns."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from diopi_proto.descriptor import VendorDescriptor
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
