"""Timeline of the measured steps for Chrome's tracing and Perfetto.

It is a JSON array of trace events, written step by step; the format allows the end to be missing,
so that the file of a killed program is valid. Times are measured by the stopwatch: without the
tool's own work, from the first measured step on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dl_optools.timing.clocks import Stopwatch
from dl_optools.timing.spans import Span, StepRecord

_STEPS, _OPERATORS, _COMMUNICATION, _GAPS = range(1, 5)
_TRACKS = {
    _STEPS: "steps",
    _OPERATORS: "operators",
    _COMMUNICATION: "communication",
    _GAPS: "gaps: no operator runs",
}
_MORE_COMMUNICATION = 100
"""First additional track for communication: slices of one track may not overlap."""
_SHORTEST_GAP = 5e-6
_MOST = 400_000


class Trace:
    """One file of events.

    :param path: it is written with the first step.
    :param rank: rank of the process as set by launchers; empty without one.
    :ivar left_out: events beyond the maximum.
    """

    def __init__(self, path: Path, watch: Stopwatch, rank: str) -> None:
        self.path = path
        self.left_out = 0
        self.problem = ""
        self._watch = watch
        self._origin: Any = None
        self._written = 0
        self._steps = 0
        self._busy: list[float] = []
        """End of the last slice of each communication track."""
        name = f"rank {rank}" if rank else f"process {os.getpid()}"
        self._pid = int(rank) if rank.isdigit() else os.getpid()
        self._waiting: list[dict[str, Any]] = [
            self._about("process_name", 0, name),
            *(self._about("thread_name", track, text) for track, text in _TRACKS.items()),
        ]

    def _about(self, kind: str, track: int, name: str) -> dict[str, Any]:
        return {"ph": "M", "name": kind, "pid": self._pid, "tid": track, "args": {"name": name}}

    def add(self, record: StepRecord) -> None:
        """Add a step that the device has finished, and write it."""
        if self._origin is None:
            self._origin = record.start
        self._steps += 1
        # The marks of a step belong to the record, unlike those of its spans.
        self._event(_STEPS, f"measured step {self._steps}", record.start, record.stop, {})
        for span in record.spans:
            self._span(span)
        self._gaps(record)
        self._write()

    def _span(self, span: Span) -> None:
        row = span.entry.row
        about = {
            "level": row.level,
            "direction": row.direction,
            "shapes": [list(shape) for shape in row.shapes],
            "dtypes": list(row.dtypes),
            "module": span.module,
            "stack": span.stack,
        }
        about = {name: value for name, value in about.items() if value}
        backward = " (backward)" if row.backward else ""
        self._event(_OPERATORS, row.operator + backward, span.start, span.stop, about)
        if span.finish is not None:
            track = self._communication(span)
            self._event(track, row.operator, span.start, span.finish, about)
        if span.memory is not None:
            self._add(
                {
                    "ph": "C",
                    "name": "memory",
                    "pid": self._pid,
                    "ts": self._at(span.stop),
                    "args": {"allocated bytes": span.memory},
                }
            )

    def _communication(self, span: Span) -> int:
        """Return the first free track: several operations may overlap."""
        start, finish = self._at(span.start), self._at(span.finish)
        at = next((at for at, end in enumerate(self._busy) if end <= start), len(self._busy))
        if at < len(self._busy):
            self._busy[at] = finish
        else:
            self._busy.append(finish)
            if at:
                name = f"{_TRACKS[_COMMUNICATION]} {at + 1}"
                self._add(self._about("thread_name", _MORE_COMMUNICATION + at, name))
        return _MORE_COMMUNICATION + at if at else _COMMUNICATION

    def _gaps(self, record: StepRecord) -> None:
        """Add the gaps between outermost spans."""
        outermost = [span for span in record.spans if span.outer is None]
        outermost.sort(key=lambda span: self._at(span.start))
        before = record.start
        for mark, after in [*((x.start, x.stop) for x in outermost), (record.stop, record.stop)]:
            if self._watch.seconds(before, mark) > _SHORTEST_GAP:
                self._event(_GAPS, "gap", before, mark, {})
            if self._watch.seconds(before, after) > 0:
                before = after

    def _event(self, track: int, name: str, start: Any, stop: Any, about: dict[str, Any]) -> None:
        begin = self._at(start)
        self._add(
            {
                "ph": "X",
                "name": name,
                "pid": self._pid,
                "tid": track,
                "ts": begin,
                # Rounded once, like ends: nested slices then nest exactly.
                "dur": round(self._at(stop) - begin, 3),
                "args": about,
            }
        )

    def _at(self, mark: Any) -> float:
        """Return microseconds since the start of the first measured step."""
        return round(self._watch.seconds(self._origin, mark) * 1e6, 3)

    def _add(self, event: dict[str, Any]) -> None:
        if self._written + len(self._waiting) >= _MOST:
            self.left_out += 1
        else:
            self._waiting.append(event)

    def _write(self) -> None:
        if not self._waiting:
            return
        lines = ",\n".join(json.dumps(event) for event in self._waiting)
        before = ",\n" if self._written else "[\n"
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(before + lines)
        except OSError as error:
            self.problem = self.problem or f"{self.path}: {error.strerror or error}"
        self._written += len(self._waiting)
        self._waiting.clear()

    def close(self) -> None:
        """Write the rest, and the end of the array."""
        self._write()
        if self._written and not self.problem:
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n]\n")


def format_stack(frames: Iterable[object]) -> list[str]:
    """Format the program's stack for an event."""
    return [str(frame) for frame in frames]


def allocated_bytes(device: str) -> Callable[[], int] | None:
    """Return a function for the memory of a device's tensors; None if it is not available."""
    import torch

    if device == "cpu":
        return None
    found = getattr(torch.get_device_module(device), "memory_allocated", None)
    if found is None:
        found = getattr(torch.accelerator, "memory_allocated", None)
    return found
