"""What the tools of a program's processes found, told to the command that started it as JSON.

The command merges what ranks found; a process that called no operator, such as a launcher, adds
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
    """What one tool found in one process.

    :ivar rank: of the process, as launchers number them; empty where none did.
    :ivar found: what the tool says of itself.
    """

    tool: str
    process: int
    rank: str
    found: dict[str, Any]

    @property
    def label(self) -> str:
        """``rank 3``, or else the process."""
        return f"rank {self.rank}" if self.rank else f"process {self.process}"


def note_report(environ: Mapping[str, str], tool: str, found: dict[str, Any]) -> None:
    """Tell the command; to be called where one listens."""
    report = Report(tool, os.getpid(), environ.get("RANK", ""), found)
    note(environ, REPORT + json.dumps(asdict(report)))


def reports_of(notes: Iterable[str], tool: str) -> list[Report]:
    """The reports of a tool, by rank."""
    lines = (x.removeprefix(REPORT) for x in notes if x.startswith(REPORT))
    found = [Report(**json.loads(line)) for line in lines]
    mine = [x for x in found if x.tool == tool]
    return sorted(mine, key=lambda x: (int(x.rank) if x.rank.isdigit() else -1, x.process))
