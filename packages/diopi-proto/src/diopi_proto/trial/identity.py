"""Identity of a cached verdict: everything on which the result of a library's trial depends.

It covers the file, this package, the machine with its processor and running kernel, the loaded
drivers, the environment variables of the loader and those that name libraries, and the time of the
last change in the loader's search folders, because a library that was missing during the trial may
be installed now. Machines that share a home folder have separate verdicts.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from .._environment import environment
from .._version import __version__

_FORMAT = 2
"""Version of the cache's format, which is part of the identity."""
_PROCESSOR = frozenset(
    {
        *("vendor_id", "cpu family", "model", "model name", "stepping", "microcode", "flags"),
        *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision"),
        *("Features", "isa", "uarch"),
    }
)
"""Keys of /proc/cpuinfo that describe the processor; others are measurements, such as its clock."""
_DRIVERS = (
    "/proc/driver/nvidia/version",
    *(
        f"/sys/module/{module}/{file}"
        for module in ("nvidia", "amdgpu", "i915", "xe", "habanalabs")
        for file in ("version", "srcversion")
    ),
)
_LOADER_CACHE = "/etc/ld.so.cache"
_LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
"""Default search folders of the loader, after those of LD_LIBRARY_PATH."""
_LIBRARY_NAME = re.compile(r"\.so(\.\d+)*$")
_BOOT = "/proc/sys/kernel/random/boot_id"
_FIRST_PROCESSOR = 4096
"""Bytes of /proc/cpuinfo that are read: the kernel generates the rest only on demand."""


def file_identity(path: str | Path) -> list[int] | None:
    """Return values that change with a file; None if it is missing or not a file."""
    try:
        status = os.stat(path)  # noqa: PTH116 - runs on many files at every `import torch`
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    times = [status.st_mtime_ns, status.st_ctime_ns]
    return [status.st_size, status.st_ino, status.st_dev, *times]


def identity_of(library: Path, legacy: bool, added_to: str = "") -> str | None:
    """Return a name for the identity; None if the library is missing."""
    file = file_identity(library)
    if file is None:
        return None
    facts = [
        *(_FORMAT, __version__, os.fsencode(library).hex(), legacy, added_to, file),
        *(_head(_BOOT), list(os.uname()), _processor(), [_head(path) for path in _DRIVERS]),
        sorted(_loader_settings()),
        *(file_identity(_LOADER_CACHE), list(map(_last_change, _library_folders()))),
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]


def _loader_settings() -> Iterator[tuple[str, str, list[int] | None]]:
    """Return environment variables that affect loading: the loader's own, and paths of
    libraries.
    """
    for name, value in environment().items():
        if _LIBRARY_NAME.search(value):
            yield name, value, file_identity(value)
        elif name.startswith("LD_"):
            yield name, value, None


def _library_folders() -> list[str]:
    machine = f"{os.uname()[4]}-linux-gnu"
    default = [*_LIBRARY_FOLDERS, f"/lib/{machine}", f"/usr/lib/{machine}"]
    first = environment().get("LD_LIBRARY_PATH")
    return [*re.split("[:;]", first), *default] if first else default


def _last_change(folder: str) -> int | None:
    """Return when an entry of a folder was last added, removed or renamed; None if it is
    missing.
    """
    try:
        return os.stat(folder or ".").st_mtime_ns  # noqa: PTH116 - as above
    except (OSError, ValueError):
        return None


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
