"""Cache of trials: verdicts, and marks left by processes that died while loading a library.

Both are small files in the user's cache folder, by identity. If one is invalid, the trial is
repeated. Files that other users could have written are not read.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .._environment import environment
from ..foreign_file import read_regular_json
from ..trust import why_untrusted
from .identity import file_identity

_LARGEST = 1 << 18
"""Maximum size of a verdict in bytes."""
_DAYS_KEPT = 90


def cache_folder() -> Path | None:
    """Return ``dl/trials`` in the user's cache folder. None if no folder belongs to this user
    alone; then every start repeats the trial."""
    root = Path(environment().get("XDG_CACHE_HOME", ""))
    try:
        folder = (root if root.is_absolute() else Path.home() / ".cache") / "dl" / "trials"
        if not folder.is_absolute():
            return None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError, ValueError):
        return None
    return folder if why_untrusted(folder) is None else None


class Verdict:
    """Verdict that a library can be loaded, with the files that the library itself loaded."""

    def __init__(self, folder: Path, identity: str) -> None:
        self._path = folder / f"{identity}.json"

    def holds(self) -> bool:
        """Return True if the verdict exists and none of its files has changed."""
        try:
            files = read_regular_json(self._path, _LARGEST)["files"]
            return all(file_identity(path) == identity for path, identity in files)
        except (OSError, ValueError, TypeError, KeyError):
            return False

    def remember(self, files: Sequence[str]) -> None:
        """Replace the verdict atomically; a failure to write it is ignored."""
        known = [(path, mark) for path in files if (mark := file_identity(path)) is not None]
        new = self._path.with_suffix(f".{os.getpid()}.new")
        try:
            new.write_text(json.dumps({"files": known}), encoding="utf-8")
            new.replace(self._path)
        except OSError:
            with suppress(OSError):
                new.unlink()
        self._forget_the_old()

    def forget(self) -> None:
        with suppress(OSError):
            self._path.unlink()

    def _forget_the_old(self) -> None:
        oldest = time.time() - _DAYS_KEPT * 86400
        for path in self._path.parent.iterdir():
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


class LoadingMark:
    """A file that exists while a library is being loaded, and remains if the process dies.

    Loading processes hold a lock on it; a file without a lock was left by a process that died. It
    contains the number of earlier deaths.
    """

    def __init__(self, folder: Path, identity: str) -> None:
        self.path = folder / f"{identity}.loading"
        self.deaths = 0
        """Return the number of consecutive processes that died."""
        self._descriptor = -1
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            self._descriptor = os.open(self.path, flags, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # another process is loading it, or locks are unsupported
            return
        with suppress(OSError, ValueError):
            before = os.read(self._descriptor, 20)
            self.deaths = int(before) + 1 if before else 0

    def begin(self) -> None:
        """Mark that this process is about to load the library."""
        with suppress(OSError):
            os.pwrite(self._descriptor, b"%d" % self.deaths, 0)
            fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def end(self) -> None:
        """Mark that this process has loaded the library and survived."""
        if self._descriptor < 0:
            return
        with suppress(OSError):
            # Only the last process that loads the library removes the file.
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.path.unlink()
        os.close(self._descriptor)
        self._descriptor = -1

    def leave(self) -> None:
        """Restore the previous state of the file, because nothing was loaded."""
        if self.deaths == 0:
            self.end()
        elif self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
