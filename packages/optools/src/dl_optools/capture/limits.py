"""How much a capture may hold in memory and write to disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dl_optools.options import read

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True)
class Limits:
    """How much a writer may hold and write.

    :ivar queue: calls that wait.
    :ivar memory: bytes of tensors that wait; a single larger call waits alone.
    :ivar disk: bytes of all files together.
    :ivar wait: let the program wait where queue or memory are full; else calls are dropped.
    """

    queue: int = 256
    memory: int = 2 << 30
    disk: int = 50 << 30
    wait: bool = True


def limits_of(environ: Mapping[str, str]) -> Limits:
    """``OP_CAPTURE_MEMORY``, ``OP_CAPTURE_DISK`` and ``OP_CAPTURE_WHEN_FULL``.

    :raises OptionError: a value does not fit.
    """
    usual = Limits()
    sizes = "a number of bytes such as 500000, 500M or 2G"
    return Limits(
        memory=read(environ, "OP_CAPTURE_MEMORY", _nbytes, usual.memory, sizes),
        disk=read(environ, "OP_CAPTURE_DISK", _nbytes, usual.disk, sizes),
        wait=read(environ, "OP_CAPTURE_WHEN_FULL", _waits, usual.wait, "wait, drop"),
    )


def _nbytes(text: str) -> int:
    unit = text[-1].upper() if text[-1].isalpha() else ""
    if unit not in _UNITS:
        raise ValueError(text)
    value = float(text.removesuffix(text[-1]) if unit else text) * _UNITS[unit]
    if not 0 < value < 1 << 62:
        raise ValueError(text)
    return int(value)


def _waits(text: str) -> bool:
    if text not in ("wait", "drop"):
        raise ValueError(text)
    return text == "wait"
