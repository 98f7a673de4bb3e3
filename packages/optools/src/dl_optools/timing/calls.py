"""The timed calls, one by one, in a CSV file that is written in pieces."""

from __future__ import annotations

import csv
from pathlib import Path

from dl_optools.arguments import Argument
from dl_optools.timing.spans import TimedCall

COLUMNS = (
    "name",
    "forward_id",
    "forward_elapsed",
    "backward_elapsed",
    "unit",
    "input",
    "output",
    "grad_inputs",
    "grad_outputs",
)
_MOST = 200_000


def _text(arguments: list[Argument]) -> str:
    return "; ".join(map(str, arguments))


def _gradients(arguments: list[Argument]) -> str:
    """Return shapes and dtypes of the tensors' gradients, which equal those of the tensors."""
    return "; ".join(f"{x.dtype}{list(x.shape or ())}" for x in arguments if x.requires_grad)


class CallsFile:
    """One line for each call; times in milliseconds, empty for backward if none ran.

    :param cache: number of buffered calls.
    :ivar left_out: calls that were not written because the file has 200000 lines.
    """

    def __init__(self, path: Path, cache: int) -> None:
        self.path = path
        self.left_out = 0
        self._lost = 0
        self._reason = ""
        self._cache = max(cache, 1)
        self._kept: list[TimedCall] = []
        self._lines = 0

    def add(self, call: TimedCall) -> None:
        """Add a call whose times are complete."""
        if self._lines + len(self._kept) >= _MOST:
            self.left_out += 1
            return
        self._kept.append(call)
        if len(self._kept) >= self._cache:
            self._flush()

    def flush(self) -> None:
        """Write the buffered calls, so that they survive if the program is killed."""
        if self._kept:
            self._flush()

    def forget(self) -> None:
        """Start again with an empty file."""
        self._kept.clear()
        if self._lines:
            self.path.unlink(missing_ok=True)
        self._lines = 0

    def close(self) -> None:
        """Write the rest; without any call, only the header."""
        self._flush()

    @property
    def losses(self) -> list[str]:
        """Describe what could not be written; the program goes on."""
        return [f"{self._lost} calls of {self.path}: {self._reason}"] if self._reason else []

    def _flush(self) -> None:
        count = len(self._kept)
        try:
            self._write()
        except OSError as error:
            self._lost += count
            self._reason = self._reason or (error.strerror or str(error))
        self._lines += count
        self._kept.clear()

    def _write(self) -> None:
        with self.path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if file.tell() == 0:
                writer.writerow(COLUMNS)
            for call in self._kept:
                inputs, outputs = call.inputs(), call.outputs()
                each = call.backward / call.backwards if call.backwards else None
                writer.writerow(
                    (
                        call.entry.row.operator,
                        call.number,
                        f"{call.forward * 1e3:.6f}",
                        "" if each is None else f"{each * 1e3:.6f}",
                        "ms",
                        _text(inputs),
                        _text(outputs),
                        "" if each is None else _gradients(inputs),
                        "" if each is None else _gradients(outputs),
                    )
                )
