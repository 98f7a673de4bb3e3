"""Search for the operators that make a run wrong, by making subsets fall back to the CPU."""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from diopi_proto.foreign_file import DOCUMENT_BYTES, read_regular_text
from diopi_proto.text import printable
from dl_optools.bisect.runs import (
    BisectError,
    BlamelessError,
    Outcome,
    Runner,
    Say,
    StuckError,
    step_folder,
)
from dl_optools.bisect.search import Elements, SearchResult, search
from dl_optools.bisect.state import Run, State
from dl_optools.bisect.verdict import Criteria


class Bisection:
    """One search, which resumes from what its state already knows.

    :param path: path of the state file.
    :param say: receives a line about each run.
    :param jobs: number of concurrent runs.
    """

    def __init__(
        self, state: State, path: Path, runner: Runner, say: Say, *, jobs: int = 1
    ) -> None:
        self.state = state
        self.path = path
        self._runner = runner
        self._say = say
        self._jobs = jobs
        self._criteria = Criteria.of(state.criteria)
        self._reference: float | None = None
        self._reference_step: Path | None = None

    def find(self) -> SearchResult:
        """Run the search to its end.

        :raises BlamelessError: the unchanged program is right, or it is wrong even with all
            operators on the CPU.
        :raises BisectError: the runs are inconclusive.
        :raises CriterionError: the program never printed the metric.
        """
        state = self.state
        # The unchanged program runs first: that run lists the operators.
        as_it_is = state.find(None) or self._new(None)
        if not state.operators:
            raise BisectError(
                "no tool saw an operator of the program on the device; --device names another "
                f"device. Output of the program: {as_it_is.log}"
            )
        none = self._run([])
        if self._criteria.metric is not None and not any(
            run.status or run.metric is not None for run in (as_it_is, none)
        ):
            raise self._criteria.missing_metric_error(_read_output(as_it_is))
        if none.died_in:
            # With everything else on the CPU, only operators that cannot fall back use the device.
            state.verdict = [[none.died_in.partition("(")[0]]]
            state.save(self.path)
            raise StuckError(
                f"{none.died_in} does not return, and it cannot fall back to the CPU: with all "
                f"other operators on the CPU the program was {none.complaint}. Keep the program "
                f"from calling it. Its output: {none.log}"
            )
        if none.complaint:
            raise BlamelessError(
                f"with all operators on the CPU the program is wrong, too: {none.complaint}. "
                f"Operators are not to blame, or the tools did not see them. Its output: {none.log}"
            )
        self._reference = none.metric
        if self._criteria.tensor is not None:
            self._reference_step = step_folder(Path(none.log))
            if as_it_is.metric is None and not as_it_is.complaint:
                as_it_is.metric = self._apart(Path(as_it_is.log))
                as_it_is.complaint = self._criteria.distance(as_it_is.metric, None)
        if not self._wrong(as_it_is):
            measured = self._criteria.describe_margin(as_it_is.metric, none.metric)
            raise BlamelessError(
                "the unchanged program is not wrong: there is nothing to search for" + measured
            )
        self._repeat(none)
        places = {name: at for at, name in enumerate(state.operators)}
        everything = frozenset(state.operators)

        def test(on_device: Elements) -> bool:
            if on_device == everything:
                return True
            return self._wrong(self._run(sorted(places[name] for name in on_device)))

        def ahead(sets: Sequence[Elements]) -> None:
            self._together([sorted(places[name] for name in each) for each in sets])

        found = search(state.operators, test, ahead=ahead, jobs=self._jobs)
        state.verdict = [list(group) for group in found.groups]
        state.save(self.path)
        return found

    def _repeat(self, reference: Run) -> None:
        """Run the reference again: with random differences any operator could be blamed.

        :raises BisectError: the two runs differ.
        """
        if self._criteria.metric is None and self._criteria.tensor is None:
            return
        again = [run for run in self.state.runs if run.on_device == []][1:]
        run = again[0] if again else self._new([])
        if not self._wrong(run):
            return
        if self._criteria.tensor is not None:
            gave = f"tensors that are {run.metric:.3g} apart"
        else:
            gave = f"{reference.metric:.9g} and {run.metric:.9g}" if run.metric else run.complaint
        raise BisectError(
            f"runs are not repeatable: two with all operators on the CPU gave {gave}, where "
            f"--tolerance allows {self._criteria.tolerance:g}; seed the program"
        )

    def why(self, group: Sequence[str]) -> str:
        """Describe what is wrong when only these operators run on the device."""
        run = self._alone(group)
        assert run is not None
        return run.complaint or self._criteria.distance(run.metric, self._reference)

    def _alone(self, group: Sequence[str]) -> Run | None:
        """Return the run in which only these operators ran on the device."""
        run = self.state.find([self.state.operators.index(name) for name in group])
        # With all operators on the device it is the unchanged program.
        return run or self.state.find(None)

    def is_numerical(self) -> bool:
        """Return True if runs end normally and are wrong only by numerical differences.

        Only then can an operator be cleared because its calls are within the rounding bound.
        """
        return all(
            run is not None and not run.status and not run.died_in and self._is_near(run)
            for run in map(self._alone, self.state.verdict or [])
        )

    def acquit(self) -> None:
        """Record in the state that no operator is to blame, as the command reports."""
        self.state.verdict = []
        self.state.save(self.path)

    def _is_near(self, run: Run) -> bool:
        return self._criteria.tensor is not None or (
            run.metric is not None and math.isfinite(run.metric)
        )

    def capture(self) -> Path | None:
        """Capture the guilty operators' calls with all others on the CPU; None: no bundles."""
        guilty = frozenset(name for group in self.state.verdict or [] for name in group)
        folder = Path(self.state.directory) / "bundles"
        log = Path(self.state.directory) / "capture.log"
        return folder if guilty and self._runner.capture(guilty, folder, log) else None

    def _run(self, on_device: list[int]) -> Run:
        return self.state.find(on_device) or self._new(on_device)

    def _wrong(self, run: Run) -> bool:
        # At the first run there is no reference yet.
        return bool(run.complaint or self._criteria.distance(run.metric, self._reference))

    def _together(self, sets: Sequence[list[int]]) -> None:
        """Run several new sets concurrently."""
        unknown = [each for each in sets if self.state.find(each) is None]
        first = len(self.state.runs) + 1
        with ThreadPoolExecutor(self._jobs) as pool:
            done = [pool.submit(self._try, each, first + at) for at, each in enumerate(unknown)]
            for number, (each, future) in enumerate(zip(unknown, done, strict=True), first):
                self._keep(future.result(), number, each)

    def _new(self, on_device: list[int] | None) -> Run:
        number = len(self.state.runs) + 1
        return self._keep(self._try(on_device, number), number, on_device)

    def _try(self, on_device: list[int] | None, number: int) -> Run:
        state = self.state
        log = Path(state.directory) / f"run_{number:03d}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        begun = time.monotonic()
        outcome: Outcome
        if on_device is None:
            outcome = self._runner.collect(log)
            state.operators = list(outcome.operators)
        else:
            names = frozenset(state.operators[at] for at in on_device)
            outcome = self._runner.run(names, log)
        complaint = self._criteria.complaint(outcome.status, outcome.output, self._reference)
        if outcome.timed_out:
            complaint = "it took too long and was killed"
        if outcome.dead is not None:
            complaint = outcome.dead.text()
        metric = self._criteria.number(outcome.output)
        if self._reference_step is not None and not complaint:
            metric = self._apart(log)
            complaint = self._criteria.distance(metric, None)
        return Run(
            on_device,
            outcome.status,
            complaint,
            metric,
            round(time.monotonic() - begun, 3),
            os.fspath(log),
            "" if outcome.dead is None else printable(outcome.dead.crumb.text),
        )

    def _apart(self, log: Path) -> float:
        """Return the distance of a run's tensors from the CPU's, and delete its recording."""
        from dl_optools.bisect.recorded import farthest
        from dl_optools.one_iter.folder import OneIterError

        assert self._reference_step is not None and self._criteria.tensor is not None
        try:
            return farthest(self._reference_step, step_folder(log), self._criteria.tensor)[0]
        except OneIterError as error:
            raise BisectError(f"{error}. Its output: {log}") from None
        finally:
            shutil.rmtree(step_folder(log), ignore_errors=True)

    def _keep(self, run: Run, number: int, on_device: list[int] | None) -> Run:
        state = self.state
        state.runs.append(run)
        state.save(self.path)
        where = (
            "as it is"
            if on_device is None
            else f"{len(on_device)} of {len(state.operators)} operators on the device"
        )
        verdict = f"wrong, {run.complaint}" if run.complaint else "right"
        if run.metric is not None and on_device is None and not run.complaint:
            verdict = f"the metric is {run.metric:.9g}"
        self._say(f"run {number}: {where}: {verdict}\n")
        return run


def _read_output(run: Run) -> str:
    """Return the output of a run; empty if the log is gone."""
    try:
        return read_regular_text(run.log, DOCUMENT_BYTES, errors="replace")
    except OSError:
        return ""
