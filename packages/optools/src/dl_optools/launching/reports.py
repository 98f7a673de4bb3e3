"""Reports of the tools in a program's processes, sent as JSON to the command that started it.

The command merges the ranks' reports; a process that called no operator, such as a launcher, adds
nothing. Imports no torch.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dl_optools.launching.launch import REPORT
from dl_optools.launching.notes import note


@dataclass(frozen=True)
class Report:
    """Results of one tool in one process.

    :ivar rank: rank of the process as set by launchers; empty without one.
    :ivar found: the tool's own report.
    """

    tool: str
    process: int
    rank: str
    found: dict[str, Any]

    @property
    def label(self) -> str:
        """Return ``rank 3``, or else the process."""
        return f"rank {self.rank}" if self.rank else f"process {self.process}"


def note_report(environ: Mapping[str, str], tool: str, found: dict[str, Any]) -> None:
    """Send a report to the command; to be called if a command is listening."""
    report = Report(tool, os.getpid(), environ.get("RANK", ""), found)
    note(environ, REPORT + json.dumps(asdict(report)))


def reports_of(notes: Iterable[str], tool: str) -> list[Report]:
    """Return the reports of a tool, by rank."""
    lines = (x.removeprefix(REPORT) for x in notes if x.startswith(REPORT))
    found = [Report(**json.loads(line)) for line in lines]
    mine = [x for x in found if x.tool == tool]
    return sorted(mine, key=lambda x: (int(x.rank) if x.rank.isdigit() else -1, x.process))
