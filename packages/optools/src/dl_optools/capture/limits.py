"""How much a capture may hold in memory and write to disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dl_optools.options import SIZES, nbytes, read


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
    return Limits(
        memory=read(environ, "OP_CAPTURE_MEMORY", nbytes, usual.memory, SIZES),
        disk=read(environ, "OP_CAPTURE_DISK", nbytes, usual.disk, SIZES),
        wait=read(environ, "OP_CAPTURE_WHEN_FULL", _waits, usual.wait, "wait, drop"),
    )


def _waits(text: str) -> bool:
    if text not in ("wait", "drop"):
        raise ValueError(text)
    return text == "wait"
