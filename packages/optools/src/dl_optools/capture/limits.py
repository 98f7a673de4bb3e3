"""Limits on the memory and the disk space of a capture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dl_optools.options import SIZES, nbytes, read


@dataclass(frozen=True)
class Limits:
    """Limits of a writer.

    :ivar queue: maximum number of waiting calls.
    :ivar memory: maximum bytes of waiting tensors; a single larger call waits alone.
    :ivar disk: maximum bytes of all files together.
    :ivar wait: block the program when queue or memory are full; otherwise calls are dropped.
    """

    queue: int = 256
    memory: int = 2 << 30
    disk: int = 50 << 30
    wait: bool = True


def limits_of(environ: Mapping[str, str]) -> Limits:
    """Read ``OP_CAPTURE_MEMORY``, ``OP_CAPTURE_DISK`` and ``OP_CAPTURE_WHEN_FULL``.

    :raises OptionError: a value is invalid.
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
