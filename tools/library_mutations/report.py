"""Reports of runs: the verdicts so far, from which a later run continues."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .stages import Verdict


class ReportError(Exception):
    """A report is missing, or belongs to other mutations."""


@dataclass
class Report:
    """The verdicts of a run by the mutation's name.

    :ivar path: file that is written after each verdict; None: no file is written.
    :ivar draw: what determines the mutations: the seed, the count, a hash of the sources.
    """

    path: Path | None
    draw: dict[str, Any]
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    def resume(self, only_rejected: bool = False) -> None:
        """Read the verdicts of an earlier run.

        :param only_rejected: leave out survivors, and accept sources that have changed.
        :raises ReportError: there is no report, or it belongs to another draw.
        """
        if self.path is None or not self.path.is_file():
            raise ReportError(f"--json {self.path}: there is no report to continue")
        report = json.loads(self.path.read_text(encoding="utf-8"))
        if report["draw"] != self.draw and not only_rejected:
            raise ReportError(
                f"--json {self.path} is the report of another draw, or of other sources: "
                f"{report['draw']}, and this run is {self.draw}; run without --resume"
            )
        for row in report["mutations"]:
            if row["stage"] or not only_rejected:
                self.verdicts[row["mutation"]] = Verdict(**row)

    def add(self, verdict: Verdict) -> None:
        """Add a verdict, and write the report."""
        self.verdicts[verdict.mutation] = verdict
        if self.path is None:
            return
        rows = [
            {"mutation": x.mutation, "stage": x.stage, "reason": x.reason}
            for x in self.verdicts.values()
        ]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".partial")
        text = json.dumps({"draw": self.draw, "mutations": rows}, indent=1)
        new.write_text(text + "\n", encoding="utf-8")
        new.replace(self.path)

    @property
    def survivors(self) -> list[str]:
        """Return the names of the mutations that no stage rejected."""
        return [name for name, x in self.verdicts.items() if not x.stage]

    def summary(self) -> str:
        """Return one line about all verdicts."""
        counts = Counter(x.stage or "survived" for x in self.verdicts.values())
        survived = counts.pop("survived", 0)
        rejected = sum(counts.values())
        share = rejected / max(rejected + survived, 1)
        by_stage = ", ".join(f"{count} by {name}" for name, count in counts.items())
        return (
            f"{rejected + survived} mutations (seed {self.draw['seed']}): {rejected} rejected "
            f"({share:.1%}): {by_stage}; {survived} survived"
        )
