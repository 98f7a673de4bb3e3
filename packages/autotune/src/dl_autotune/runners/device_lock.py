"""One tuner at a time on a device: two that measure side by side both measure nonsense."""

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
    """Hold a device; the system lets go of it when the process ends, however it ends.

    Ranks of a job that come while another process tunes wait for it, and hear what it has found.
    """

    def __init__(self, vendor: str, device: int) -> None:
        self._device = f"{vendor}:{device}"
        name = f"dl-autotune-{os.getuid()}-{vendor}-{device}.lock"
        self._path = Path(tempfile.gettempdir()) / name
        self._file: IO[str] | None = None
        self._left: dict[str, str] = {}

    def __enter__(self) -> DeviceLock:
        """
        :raises MeasurementError: another process holds it, and this is not a rank of a job.
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
        """Return the answer of the process that was waited for, if its question was the same."""
        return self._left.get(question)

    def leave(self, question: str, answer: str) -> None:
        """Tell those that wait now what was found."""
        self._left = {question: answer}
        self._write()

    def _wait(self, file: IO[str]) -> None:
        holder = self._holder(file)[0] or "unknown"
        if not in_job():
            file.close()
            raise MeasurementError(
                f"[tune] {self._device} is being tuned by process {holder} already: wait until"
                " it is done, or end it"
            ) from None
        _log.warning("waiting for process %s, which is tuning %s", holder, self._device)
        fcntl.flock(file, fcntl.LOCK_EX)
        # One that was ended while it wrote has left nothing.
        with contextlib.suppress(ValueError):
            self._left = json.loads(self._holder(file)[1])

    @staticmethod
    def _holder(file: IO[str]) -> tuple[str, str]:
        """The process that holds the device, or held it last, and what it has left."""
        file.seek(0)
        holder, _, left = file.read().partition("\n")
        return holder.strip(), left.strip()

    def _write(self) -> None:
        assert self._file is not None
        self._file.seek(0)
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n{json.dumps(self._left)}\n")
        self._file.flush()
