"""CSV file to which several threads append rows."""

from __future__ import annotations

import contextlib
import csv
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any


class CsvFile:
    """Rows are written in batches; the file is created with the first one.

    If they cannot be written the program goes on: see ``lost``.

    :param columns: header of the file.
    :param batch: number of rows that are buffered.
    :ivar lost: number of rows that could not be written; ``reason`` is the first error.
    """

    def __init__(self, path: Path, columns: Sequence[str], batch: int) -> None:
        self.path = path
        self._columns = columns
        self._batch = batch
        self._rows: list[Sequence[Any]] = []
        self._file: IO[str] | None = None
        self._lock = threading.Lock()
        self.lost = 0
        self.reason = ""

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        with self._lock:
            self._rows.extend(rows)
            if len(self._rows) >= self._batch:
                self._write()

    def close(self) -> bool:
        """Write the remaining rows; return True if the file exists."""
        with self._lock:
            self._write()
            if self._file is None:
                return False
            with contextlib.suppress(OSError):  # The rest of the buffer has been counted as lost.
                self._file.close()
            self._file = None
            return True

    def _write(self) -> None:
        rows, self._rows = self._rows, []
        if not rows:
            return
        try:
            if self._file is None:
                self._file = self.path.open("w", newline="", encoding="utf-8")
                csv.writer(self._file).writerow(self._columns)
            csv.writer(self._file).writerows(rows)
            self._file.flush()
        except OSError as error:
            self.lost += len(rows)
            self.reason = self.reason or (error.strerror or str(error))

    @property
    def losses(self) -> list[str]:
        """Describe the lost rows; empty if none were lost."""
        return [f"{self.lost} rows of {self.path}: {self.reason}"] if self.lost else []
