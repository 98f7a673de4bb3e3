"""Additional run for programs that compile: compiled graphs against their operators.

Under tools that observe single operators a program does not compile. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dl_optools.breadcrumbs.trail import DeadOperator
from dl_optools.diagnosis.deaths import confirm
from dl_optools.diagnosis.names import GRAPHS, PROBE
from dl_optools.diagnosis.runs import Run, Runner

CHECKED = "dl"
"""Backend whose graphs are checked."""


@dataclass
class GraphFindings:
    """Outcome of the run.

    :ivar wrong: operators and graphs that are wrong, with the evidence.
    :ivar dead: the operator in which the program died; None if it did not.
    :ivar unchecked: what the verdict lists as not checked; empty if nothing was left out.
    """

    wrong: dict[str, str] = field(default_factory=dict)
    dead: DeadOperator | None = None
    notes: list[str] = field(default_factory=list)
    unchecked: str = ""


def check_graphs(runner: Runner, first: Run, say: Callable[[str], object]) -> GraphFindings:
    """Run the program with compilation, if it compiles.

    :param first: a run that observed single operators.
    """
    found = GraphFindings()
    used = {name for x in first.reports(PROBE) for name in x.found.get("compilers", ())}
    if others := sorted(used - {CHECKED}):
        found.unchecked = f"graphs that torch.compile compiles with {' and '.join(others)}"
    if CHECKED not in used or runner.stopped:
        return found
    say("one more run: compiled graphs, each against its operators\n")
    run = runner.run(GRAPHS)
    if run.dead is not None and not runner.stopped:
        found.dead, found.notes = confirm(runner, run, (), say, GRAPHS)
    reports = run.reports(GRAPHS)
    for report in reports:
        found.wrong.update(report.found["wrong"])
        found.notes += [
            f"{text}: {count} calls not checked" for text, count in report.found["skipped"].items()
        ]
    if not reports and found.dead is None:
        found.unchecked = "graphs of torch.compile with dl: the program compiled nothing"
        if run.status:
            found.unchecked = f"graphs of torch.compile with dl: see {run.log}"
    return found
