"""What a verdict about a library depends on, so that it is not taken for another's.

The file; this package; the machine, its processor and kernel since it was started; the drivers that
Linux knows; and what the loader's variables say. A home that several machines share has a verdict
for each.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path

from .._environment import environment
from .._version import __version__

_FORMAT = 1
"""Of what is kept; another one is another identity."""
_PROCESSOR = frozenset(
    {
        *("vendor_id", "cpu family", "model", "model name", "stepping", "microcode", "flags"),
        *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision"),
        *("Features", "isa", "uarch"),
    }
)
"""Lines of /proc/cpuinfo that say what it can do; others say how fast it is just now."""
_DRIVERS = (
    "/proc/driver/nvidia/version",
    *(
        f"/sys/module/{module}/{file}"
        for module in ("nvidia", "amdgpu", "i915", "xe", "habanalabs")
        for file in ("version", "srcversion")
    ),
)
_BOOT = "/proc/sys/kernel/random/boot_id"
_FIRST_PROCESSOR = 4096
"""Bytes of /proc/cpuinfo that describe it; the kernel makes the rest only if it is read."""


def file_identity(path: str | Path) -> list[int] | None:
    """What changes with a file; None: it is not there, or no file."""
    try:
        status = os.stat(path)  # noqa: PTH116 - of many files at every `import torch`
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    times = [status.st_mtime_ns, status.st_ctime_ns]
    return [status.st_size, status.st_ino, status.st_dev, *times]


def identity_of(library: Path, legacy: bool) -> str | None:
    """A name for all of it; None: the library is not there."""
    file = file_identity(library)
    if file is None:
        return None
    facts = [
        *(_FORMAT, __version__, os.fsencode(library).hex(), legacy, file),
        *(_head(_BOOT), list(os.uname()), _processor(), [_head(path) for path in _DRIVERS]),
        sorted(item for item in environment().items() if item[0].startswith("LD_")),
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]


def _head(path: str, size: int = 1024) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(descriptor, size).decode("latin-1")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def _processor() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _head("/proc/cpuinfo", _FIRST_PROCESSOR).splitlines():
        name, _, value = line.partition(":")
        if name.strip() in _PROCESSOR:
            found.setdefault(name.strip(), value.strip())
    return found
