"""Lock of a device, because simultaneous measurements disturb each other."""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import tempfile
from pathlib import Path
from typing import IO

from ..errors import MeasurementError

_log = logging.getLogger("dl_autotune")


def in_job() -> bool:
    """Return True in one of several ranks of a job, by the variables of torchrun."""
    size = os.environ.get("WORLD_SIZE", "")
    return size.isdecimal() and int(size) > 1


class DeviceLock:
    """Lock a device; the operating system releases the lock when the process ends.

    Ranks of a job wait while another process tunes, and get its result.

    :param waits: wait while another process holds the lock, also in a process that is not a rank.
    """

    def __init__(self, vendor: str, device: int, *, waits: bool = False) -> None:
        self._device = f"{vendor}:{device}"
        self._waits = waits
        name = f"dl-autotune-{os.getuid()}-{vendor}-{device}.lock"
        self._path = Path(tempfile.gettempdir()) / name
        self._file: IO[str] | None = None
        self._left: dict[str, str] = {}

    def __enter__(self) -> DeviceLock:
        """
        :raises MeasurementError: another process holds it, and this one does not wait.
        """
        self._file = self._path.open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._wait(self._file)
        self._write()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._file is not None
        self._file.close()

    def answer(self, question: str) -> str | None:
        """Return the result of the process that was waited for, if its request was the same."""
        return self._left.get(question)

    def leave(self, question: str, answer: str) -> None:
        """Publish the result for waiting processes."""
        self._left = {question: answer}
        self._write()

    def _wait(self, file: IO[str]) -> None:
        holder = self._holder(file)[0] or "unknown"
        if not (self._waits or in_job()):
            file.close()
            raise MeasurementError(
                f"[tune] {self._device} is already being tuned by process {holder}: wait until it "
                "is done, or end it"
            ) from None
        _log.warning("waiting for process %s, which is tuning %s", holder, self._device)
        fcntl.flock(file, fcntl.LOCK_EX)
        # A process that was ended while writing has published nothing.
        with contextlib.suppress(ValueError):
            self._left = json.loads(self._holder(file)[1])

    @staticmethod
    def _holder(file: IO[str]) -> tuple[str, str]:
        """Return the process that holds the device, or held it last, and its published result."""
        file.seek(0)
        holder, _, left = file.read().partition("\n")
        return holder.strip(), left.strip()

    def _write(self) -> None:
        assert self._file is not None
        self._file.seek(0)
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n{json.dumps(self._left)}\n")
        self._file.flush()
