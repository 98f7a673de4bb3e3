"""Compiled code of plugins' engines in files of the user's cache folder.

An engine takes part if it has a ``cache_key``. A file begins with the digest of its code; a file
that is damaged, or that another user could have written, is not read.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from diopi_proto.foreign_file import read_regular
from diopi_proto.trust import why_untrusted
from dl_dicp.engines.interface import GraphEngine

LARGEST = 1 << 28
"""Maximum size of a file in bytes; larger code is compiled in each process."""
DAYS_KEPT = 90
_DIGEST = hashlib.sha256().digest_size


class CompiledCode:
    """Code of one graph for one engine.

    :param name: name of the engine.
    """

    def __init__(self, name: str, engine: GraphEngine, graph: Mapping[str, Any]) -> None:
        self._engine = engine
        self._graph = graph
        self._path = _path(name, engine, graph)

    def get(self) -> bytes:
        """Return the code from its file, or compile the graph and write the file.

        :raises Exception: whatever the engine raises for a graph that it cannot compile.
        """
        code = self._read()
        if code is None:
            code = self._engine.compile(self._graph)
            self._write(code)
        return code

    def forget(self) -> None:
        """Delete the file, because its code failed."""
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink()

    def _read(self) -> bytes | None:
        if self._path is None:
            return None
        try:
            content = read_regular(self._path, LARGEST, follow_links=False)
            # The modification time is that of the last use.
            os.utime(self._path)
        except OSError:
            return None
        code = content[_DIGEST:]
        return code if content[:_DIGEST] == hashlib.sha256(code).digest() else None

    def _write(self, code: bytes) -> None:
        if self._path is None or not isinstance(code, bytes) or len(code) > LARGEST - _DIGEST:
            return
        new = self._path.with_suffix(f".{os.getpid()}.new")
        try:
            new.write_bytes(hashlib.sha256(code).digest() + code)
            new.replace(self._path)
            _delete_unused(self._path.parent)
        except OSError:
            with suppress(OSError):
                new.unlink()


def _path(name: str, engine: GraphEngine, graph: Mapping[str, Any]) -> Path | None:
    """Return the path of the file; None if the engine has no key or the user has no own folder."""
    key = getattr(engine, "cache_key", "")
    folder = _folder() if isinstance(key, str) and key else None
    if folder is None:
        return None
    text = json.dumps([name, engine.version, key, graph], sort_keys=True)
    return folder / f"{hashlib.sha256(text.encode()).hexdigest()}.bin"


def _folder() -> Path | None:
    """Return ``dl/graphs`` in the cache folder, or None if other users can write to it."""
    root = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        folder = (root if root.is_absolute() else Path.home() / ".cache") / "dl" / "graphs"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder if why_untrusted(folder) is None else None


def _delete_unused(folder: Path) -> None:
    oldest = time.time() - DAYS_KEPT * 86400
    for path in folder.iterdir():
        with suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
