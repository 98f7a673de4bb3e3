"""What is remembered of trials between processes: verdicts, and who died while loading.

Both are small files in the user's cache, by identity. Whatever is wrong with them, a library is
tried again; nothing that others could have written is read.
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
"""Bytes of a verdict that make sense."""
_DAYS_KEPT = 90


def cache_folder() -> Path | None:
    """``dl/trials`` in the user's cache. None: there is no place that is this user's alone, and
    every start tries again."""
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
    """That a library can be loaded, with the files that it loaded in turn."""

    def __init__(self, folder: Path, identity: str) -> None:
        self._path = folder / f"{identity}.json"

    def holds(self) -> bool:
        """It is there, and none of the files has changed since."""
        try:
            files = read_regular_json(self._path, _LARGEST)["files"]
            return all(file_identity(path) == identity for path, identity in files)
        except (OSError, ValueError, TypeError, KeyError):
            return False

    def remember(self, files: Sequence[str]) -> None:
        """Replace it in one step; where it cannot be written, it is done without."""
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
    """A file that is there while a library is being loaded, and stays if a process dies of it.

    It is locked by those that are loading, so that one without a lock is left by the dead; it holds
    how many have died before.
    """

    def __init__(self, folder: Path, identity: str) -> None:
        self.path = folder / f"{identity}.loading"
        self.deaths = 0
        """Processes that died in a row."""
        self._descriptor = -1
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            self._descriptor = os.open(self.path, flags, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # somebody else is loading it, or there are no locks here
            return
        with suppress(OSError, ValueError):
            before = os.read(self._descriptor, 20)
            self.deaths = int(before) + 1 if before else 0

    def begin(self) -> None:
        """The library is about to be loaded here."""
        with suppress(OSError):
            os.pwrite(self._descriptor, b"%d" % self.deaths, 0)
            fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def end(self) -> None:
        """This process lives."""
        if self._descriptor < 0:
            return
        with suppress(OSError):
            # Only the last one takes it away.
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.path.unlink()
        os.close(self._descriptor)
        self._descriptor = -1

    def leave(self) -> None:
        """Nothing was loaded: it stays as it was found, and goes if there was none."""
        if self.deaths == 0:
            self.end()
        elif self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
