"""Runner of tests of operators or models, with a report."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from dl_dicp.engines.delegating import SIZES_VARY
from dl_dicp.engines.sized import REJECTED_SIZES, TOO_MANY_SIZES
from dl_dicp.testing import exceptions, models, operators
from dl_dicp.testing.model_list import families
from dl_dicp.testing.operators import Report
from dl_dicp.testing.selection import Selection

Say = Callable[[str], object]
LEFT = (SIZES_VARY, REJECTED_SIZES, TOO_MANY_SIZES)
"""Reasons for which an engine may leave a graph of varying sizes to the executor."""


@dataclass
class Totals:
    """Counts of the outcomes of one kind of tests.

    :ivar whole: tests that ran in contract graphs only.
    :ivar mixed: tests with host calls.
    :ivar eager: tests in which a whole graph ran eagerly.
    :ivar fixed: tests with programs for one argument layout although sizes vary.
    :ivar engine: engine that the tests choose; empty for the default.
    :ivar runs: graph runs of that engine.
    :ivar dropped: graphs that it left to the executor, by reason.
    """

    tests: int = 0
    samples: int = 0
    listed: int = 0
    whole: int = 0
    mixed: int = 0
    eager: int = 0
    fixed: int = 0
    wrong: list[str] = field(default_factory=list)
    engine: str = ""
    runs: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    @property
    def options(self) -> dict[str, str]:
        """Return the options of the backend."""
        return {"engine": self.engine} if self.engine else {}

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
        self.runs += seen.engine_runs[self.engine]
        for (name, reason), count in seen.dropped.items():
            if name == self.engine:
                self.dropped[reason] += count
        if problem is not None:
            self.wrong.append(problem)

    def engine_problems(self) -> list[str]:
        """Return why the engine fails the tests although all results agree.

        The executor runs each graph that an engine drops, so that results stay correct.
        """
        if not self.engine or not self.tests:
            return []
        found = [
            f"engine {self.engine} dropped {count} graphs: {reason}"
            for reason, count in self.dropped.items()
            if reason not in LEFT
        ]
        if not self.runs and not self.dropped:
            found.append(f"engine {self.engine} accepted no graph")
        return found

    def text(self, what: str) -> str:
        """Format the counts in one line, and the engine's counts in another."""
        if self.engine:
            runs, varying = self.runs, sum(self.dropped[reason] for reason in LEFT)
            of_engine = f"{runs} graph runs; {varying} graphs of varying sizes left to the executor"
            return f"{self._counts(what)}\nengine {self.engine}: {of_engine}"
        return self._counts(what)

    def _counts(self, what: str) -> str:
        return (
            f"{what}: {self.tests} tests, {self.samples} runs compared; in graphs alone "
            f"{self.whole}, with host calls {self.mixed}, partly eager {self.eager}; {self.fixed} "
            f"with programs for one layout where sizes vary; {self.listed} listed exceptions, "
            f"{len(self.wrong)} wrong"
        )


def run_operators(shapes: str, selection: Selection, say: Say, engine: str = "") -> Totals:
    """Test all selected operators with ``static`` or ``dynamic`` shapes.

    :param engine: engine that runs the graphs; empty for the default.
    :raises ExceptionsError: the list of exceptions is invalid.
    """
    listed = exceptions.load()
    cases = list(operators.cases())
    totals = Totals(engine=engine)
    totals.wrong += [
        f"the list of exceptions names {name}, which torch does not have"
        for name in sorted({name for name, _ in listed} - {case.name for case in cases})
    ]
    with operators.Unseeded(), _Quiet():
        for case in cases:
            if selection.has(case.name):
                report = operators.run(case, dynamic=shapes == "dynamic", options=totals.options)
                _count(totals, report, exceptions.unexpected(report, shapes, listed), say)
    return _finished(totals, f"operators, {shapes} shapes", say)


def run_models(shapes: str, selection: Selection, say: Say, engine: str = "") -> Totals:
    """Test all selected models.

    :param engine: engine that runs the graphs; empty for the default.
    :raises ModuleNotFoundError: transformers is not installed.
    :raises OSError: the folder of ``LLAMA_MODEL_DIR`` has no model.
    """
    totals = Totals(engine=engine)
    with _Quiet():
        for name, family in families().items():
            if selection.has(name):
                report = models.run(
                    name, family, dynamic=shapes == "dynamic", options=totals.options
                )
                say(f"{name}: {report.problem or 'agrees with eager'}; {_format_counts(report)}")
                problem = report.problem and f"{name} ({shapes}): {report.problem}"
                _count(totals, report, problem, lambda _: None)
    return _finished(totals, f"models, {shapes} shapes", say)


def _finished(totals: Totals, what: str, say: Say) -> Totals:
    say(totals.text(what))
    for problem in totals.engine_problems():
        totals.wrong.append(problem)
        say(problem)
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
