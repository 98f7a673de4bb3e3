"""Tries a vendor library before it is loaded into this process, once for each version of the file."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from diopi_proto.descriptor import VendorDescriptor
from dl_core.errors import ProbeError


def cache_file() -> Path:
    """Where the libraries that passed are remembered: ``dl/loadable.json`` in the user's cache."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(root) / "dl" / "loadable.json"


def check(descriptor: VendorDescriptor, timeout: float) -> None:
    """Make sure that loading the library neither crashes nor hangs this process.

    A file that passed is remembered by path, size and time of change, so that later starts pay
    nothing.

    :raises dl_core.errors.ProbeError: it cannot be loaded, with the reason.
    :raises diopi_proto.VendorLoadError: the file alone tells that it cannot be loaded.
    """
    library = str(descriptor.library)
    identity = _identity(library)
    remembered = _read(cache_file())
    if identity is not None and remembered.get(library) == identity:
        return
    from diopi_proto.host.library import inspect_library
    from dl_core import _C

    inspect_library(descriptor.library, legacy=descriptor.legacy)
    trouble = _C.trial_load(library, descriptor.legacy, timeout)
    if trouble:
        raise ProbeError(f"{library} cannot be used: {trouble}")
    if identity is not None:
        _write(cache_file(), {**remembered, library: identity})


def _identity(library: str) -> list[int] | None:
    try:
        status = os.stat(library)
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns, status.st_ino]


def _read(path: Path) -> dict[str, list[int]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _write(path: Path, content: dict[str, list[int]]) -> None:
    """Replace the file in one step; a cache that cannot be written is done without."""
    present = {library: identity for library, identity in content.items() if _identity(library)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, delete=False, encoding="utf-8"
        ) as new:
            json.dump(present, new)
        os.replace(new.name, path)
    except OSError:
        return
