"""Tries a vendor library before it is loaded here, once for each version of the file."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from diopi_proto.descriptor import VendorDescriptor
from dl_core.errors import ProbeError


def cache_file() -> Path | None:
    """Where the libraries that passed are remembered: ``dl/loadable.json`` in the user's cache.

    None for a user without a home: every start tries anew then.
    """
    root = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(root) if root else Path.home() / ".cache") / "dl" / "loadable.json"
    except RuntimeError:
        return None


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
        status = Path(library).stat()
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns, status.st_ino]


def _read(path: Path | None) -> dict[str, list[int]]:
    if path is None:
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _write(path: Path | None, content: dict[str, list[int]]) -> None:
    """Replace the file in one step; a cache that cannot be written is done without."""
    if path is None:
        return
    present = {library: identity for library, identity in content.items() if _identity(library)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, delete=False, encoding="utf-8"
        ) as new:
            json.dump(present, new)
        Path(new.name).replace(path)
    except OSError:
        return
