"""Notes that the processes of a program send to the command that started it."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from typing_extensions import Self

from diopi_proto.text import write_error

VARIABLE = "DL_TOOLS_NOTES"
"""Path of a pipe to which each process writes which of its tools run, and what went wrong."""
_END = b"\0\n"


class Notes:
    """Collects notes while a program runs; a context manager.

    It uses a named pipe rather than a file: a full disk, or a limit on the length of files, are
    among the problems to report.

    :ivar path: value of :data:`VARIABLE`.
    :raises OSError: the pipe cannot be created.
    """

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="dl-tool-")
        self.path = Path(self._folder) / "notes"
        self._data = b""
        self._lines: list[str] | None = None

    def __enter__(self) -> Self:
        try:
            os.mkfifo(self.path)
        except OSError:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        # Opened for both directions, so that it has no end of file between two processes.
        self._pipe = os.open(self.path, os.O_RDWR)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.lines()
        shutil.rmtree(self._folder, ignore_errors=True)

    def lines(self) -> list[str]:
        """Return all notes until now; later notes are not accepted."""
        if self._lines is None:
            os.write(self._pipe, _END)
            self._reader.join()
            os.close(self._pipe)
            self._lines = self._data.removesuffix(_END).decode(errors="replace").splitlines()
        return self._lines

    def _read(self) -> None:
        while not self._data.endswith(_END):
            self._data += os.read(self._pipe, 1 << 16)


def note(environ: Mapping[str, str], text: str) -> None:
    """Send a note to the command that started the program, or write it to standard error."""
    path = environ.get(VARIABLE)
    if not path or not _write(path, f"{text}\n".encode()):
        write_error(f"dl-optools: {text}\n")


def _write(path: str, line: bytes) -> bool:
    try:
        # Fails if there is no reader, instead of waiting for one.
        pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        os.set_blocking(pipe, True)
        # Long lines of several processes would interleave.
        fcntl.flock(pipe, fcntl.LOCK_EX)
        while line:
            line = line[os.write(pipe, line) :]
    except OSError:
        return False
    finally:
        os.close(pipe)
    return True
