"""Runner of tests of operators or models, with a report."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from dl_dicp.testing import exceptions, models, operators
from dl_dicp.testing.model_list import FAMILIES
from dl_dicp.testing.operators import Report
from dl_dicp.testing.selection import Selection

Say = Callable[[str], object]


@dataclass
class Totals:
    """Counts of the outcomes of one kind of tests.

    :ivar whole: tests that ran in contract graphs only.
    :ivar mixed: tests with host calls.
    :ivar eager: tests in which a whole graph ran eagerly.
    :ivar fixed: tests with programs for one argument layout although sizes vary.
    """

    tests: int = 0
    samples: int = 0
    listed: int = 0
    whole: int = 0
    mixed: int = 0
    eager: int = 0
    fixed: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, report: Report, problem: str | None) -> None:
        """Count one test."""
        seen = report.seen
        self.tests += 1
        self.samples += report.samples
        self.listed += report.problem is not None and problem is None
        self.eager += bool(seen.eager)
        self.fixed += bool(seen.fixed)
        self.mixed += bool(seen.host_calls) and not seen.eager
        self.whole += bool(seen.compiled) and not seen.host_calls and not seen.eager
        if problem is not None:
            self.wrong.append(problem)

    def text(self, what: str) -> str:
        """Format the counts in one line."""
        return (
            f"{what}: {self.tests} tests, {self.samples} runs compared; in graphs alone "
            f"{self.whole}, with host calls {self.mixed}, partly eager {self.eager}; {self.fixed} "
            f"with programs for one layout where sizes vary; {self.listed} listed exceptions, "
            f"{len(self.wrong)} wrong"
        )


def run_operators(shapes: str, selection: Selection, say: Say) -> Totals:
    """Test all selected operators with ``static`` or ``dynamic`` shapes.

    :raises ExceptionsError: the list of exceptions is invalid.
    """
    listed = exceptions.load()
    cases = list(operators.cases())
    totals = Totals()
    totals.wrong += [
        f"the list of exceptions names {name}, which torch does not have"
        for name in sorted({name for name, _ in listed} - {case.name for case in cases})
    ]
    with operators.Unseeded(), _Quiet():
        for case in cases:
            if selection.has(case.name):
                report = operators.run(case, dynamic=shapes == "dynamic")
                _count(totals, report, exceptions.unexpected(report, shapes, listed), say)
    say(totals.text(f"operators, {shapes} shapes"))
    return totals


def run_models(shapes: str, selection: Selection, say: Say) -> Totals:
    """Test all selected models.

    :raises ModuleNotFoundError: transformers is not installed.
    """
    totals = Totals()
    with _Quiet():
        for name, family in FAMILIES.items():
            if selection.has(name):
                report = models.run(name, family, dynamic=shapes == "dynamic")
                say(f"{name}: {report.problem or 'agrees with eager'}; {_format_counts(report)}")
                problem = report.problem and f"{name} ({shapes}): {report.problem}"
                _count(totals, report, problem, lambda _: None)
    say(totals.text(f"models, {shapes} shapes"))
    return totals


def _count(totals: Totals, report: Report, problem: str | None, say: Say) -> None:
    totals.add(report, problem)
    if problem is not None:
        say(problem)


def _format_counts(report: Report) -> str:
    def parts() -> Iterator[str]:
        yield f"{report.samples} runs compared, {report.seen.compiled} programs"
        if report.seen.host_calls:
            yield f"host calls {', '.join(sorted(report.seen.host_calls))}"
        yield from (f"eager: {reason}" for reason in sorted(report.seen.eager))
        yield from (f"for one layout: {reason}" for reason in sorted(report.seen.fixed))

    return "; ".join(parts())


class _Quiet:
    """Context manager that suppresses torch's log of recompilations."""

    def __enter__(self) -> None:
        self._before = logging.root.manager.disable
        logging.disable(logging.WARNING)

    def __exit__(self, *_: object) -> None:
        logging.disable(self._before)
