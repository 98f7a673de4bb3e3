"""Tuning run: propose, compile, check, race and store candidates, and confirm the winner."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..errors import FailingKernelError, MeasurementError, SpaceError, TuningError
from ..kernel import TunableKernel, load_kernel
from ..observers import Calibration, Claim, Interval, Race, RaceSettings, Verdict, claim
from ..spaces import Config
from ..strategies import Outcome, Strategy, check_strategy, make_strategy
from .compile_pool import CompilePool
from .database import Database, StoredClaim, StoredTransfer, StoredTrial, Study
from .earlier import Layers, find_transfer
from .kernel_worker import Calibrate, Evaluate, Identify, KernelWorker, Rejected, Target, describe
from .placement import Caller, Here, Placement
from .plan import Plan, Tuned
from .worker import WorkerError

__all__ = ["Plan", "Tuned", "Tuner"]

_FINALISTS = 3
_PATIENCE = 60.0
"""Timeout in seconds of a candidate that has already run, to distinguish it from a lost process."""

Progress = Callable[[StoredTrial, int], None]
"""Callback with each trial and the number of trials."""


class Tuner:
    """Tuner of one kernel on one device.

    :param progress: callback after each trial.
    :param placement: placement of the workers; None: this machine.
    :param layers: further databases, which may have earlier studies of the kernel, by their names.
    """

    def __init__(
        self,
        target: Target,
        database: Database,
        plan: Plan | None = None,
        progress: Progress = lambda trial, count: None,
        placement: Placement | None = None,
        layers: Layers = (),
    ) -> None:
        self.target, self.database = target, database
        self.plan = plan or Plan()
        self.kernel: TunableKernel = load_kernel(target.path)
        self._progress = progress
        self._placement = placement or Here()
        self._layers = (("user", database), *layers)
        self._transfers: tuple[StoredTransfer, ...] = ()

    def run(self, *, again: bool = False) -> Tuned:
        """Tune, continue an earlier run that was stopped, or return the claim of a finished one.

        :param again: continue the search of a finished study. It is also continued if the plan has
            more evaluations than the study.
        :raises FailingKernelError: the default itself does not compile, or is wrong.
        :raises TuningError: the device is in use.
        """
        check_strategy(self.plan.strategy)
        lock = self._placement.lock(self.target.vendor, self.target.device)
        with lock, self._processes() as pool:
            identity = self._identity()
            study = self.database.study({**describe(self.target), **identity})
            known = self.database.claimed(study)
            if known is not None and not self._is_valid(known.config):
                known = None
            trials = self._trials(study)
            if known is not None and not again and not self._wants_more(len(trials)):
                said = Claim(Verdict(known.verdict), Interval(known.ratio, known.low, known.high))
                return Tuned(study, known.config, said, len(trials), reused=True)
            if self._placement.several:
                pool.demand(identity)
            with contextlib.closing(self._strategy(study)) as strategy:
                default = self._compiled(pool, self.kernel.default)
                calibration = self._calibrate(default)
                self._search(study, pool, default, strategy)
            return self._claim(study, pool, default, calibration)

    def _wants_more(self, evaluated: int) -> bool:
        """Return True if the plan has more evaluations than a study.

        A study that ended because of its time or its space would end at once again.
        """
        wanted = self.plan.budget.evaluations
        if wanted is None or self.plan.budget.seconds is not None:
            return False
        return evaluated < min(wanted, self.kernel.space.size - 1)  # the default is known

    @contextlib.contextmanager
    def _processes(self) -> Iterator[CompilePool]:
        pool = CompilePool(self.target, self.plan.workers, self._placement)
        self._worker = self._measurer()
        try:
            yield pool
        finally:
            pool.close()
            self._worker.stop()

    def _measurer(self) -> Caller:
        return self._placement.measurer(partial(KernelWorker, self.target), self.target.limits)

    def _identity(self) -> Mapping[str, Any]:
        try:
            found: Mapping[str, Any] = self._worker.call(Identify(), _PATIENCE)
        except WorkerError as error:
            # A missing vendor or device is the user's error; all other errors are failures of the
            # vendor.
            kind = TuningError if error.reason == "error" else MeasurementError
            raise kind(f"[tune] {self.target.vendor} cannot be used: {error}") from error
        return found

    def _compiled(self, pool: CompilePool, config: Config) -> bytes:
        code = pool.submit(config).result()
        if isinstance(code, Rejected):
            raise FailingKernelError(
                f"[tune] configuration {dict(config)} does not compile: {code.message}"
            )
        return code

    def _calibrate(self, default: bytes) -> Calibration:
        request = Calibrate(self.kernel.default, default, self.plan.search_races)
        try:
            answer = self._worker.call(request, 5 * self.plan.evaluation_seconds)
        except WorkerError as error:
            raise FailingKernelError(
                f"[tune] the default {dict(self.kernel.default)} cannot be run: {error}"
            ) from error
        if isinstance(answer, Rejected):
            raise FailingKernelError(
                f"[tune] the default {dict(self.kernel.default)} is wrong: {answer.message}"
            )
        assert isinstance(answer, Calibration)
        return answer

    def _strategy(self, study: Study) -> Strategy:
        name, count = self.plan.strategy, self.plan.budget.evaluations
        space, seed, prior = self.kernel.space, self.target.seed, None
        if self.plan.transfer:
            found = find_transfer(study, space, self.kernel.default, self._layers, seed)
            if found is not None:
                prior, self._transfers = found.prior, found.sources
        for each in self._transfers:
            self.database.record_transfer(study, each)
        return make_strategy(name, space, seed=seed, evaluations=count, prior=prior)

    def _search(self, study: Study, pool: CompilePool, default: bytes, strategy: Strategy) -> None:
        point = self.kernel.space.point(self.kernel.default)
        assert point is not None
        strategy.tell([Outcome(point, 1.0)])
        known = self._trials(study)
        for trial in known:
            strategy.tell([self._outcome(trial)])
        count, start = len(known), time.monotonic()
        budget = self.plan.budget
        pending: list[tuple[Config, Any]] = []
        while True:
            in_time = budget.seconds is None or time.monotonic() - start < budget.seconds
            room = 2 * self.plan.workers - len(pending)
            if budget.evaluations is not None:
                room = min(room, budget.evaluations - count - len(pending))
            if in_time and room > 0:
                configs = map(self.kernel.space.config, strategy.ask(room))
                pending += [(config, pool.submit(config)) for config in configs]
            if not pending or not in_time:
                return
            # Take results in the order of completion: a slow compilation must not delay other
            # results.
            ready = next((each for each in pending if each[1].done()), pending[0])
            pending.remove(ready)
            trial = self._evaluate(ready[0], ready[1].result(), default, count)
            self.database.record(study, trial)
            strategy.tell([self._outcome(trial)])
            count += 1
            self._progress(trial, count)

    def _trials(self, study: Study) -> list[StoredTrial]:
        """Return the trials of configurations in the kernel's space; damaged trials may be
        outside.
        """
        return [each for each in self.database.trials(study) if self._is_valid(each.config)]

    def _is_valid(self, config: Config) -> bool:
        try:
            return self.kernel.space.point(config) is not None
        except SpaceError:
            return False

    def _outcome(self, trial: StoredTrial) -> Outcome:
        point = self.kernel.space.point(trial.config)
        assert point is not None
        return Outcome(point, None if trial.ratio is None else 1 / trial.ratio)

    def _evaluate(
        self, config: Config, code: bytes | Rejected, default: bytes, number: int
    ) -> StoredTrial:
        answer: object = code
        if isinstance(code, bytes):
            settings, limit = self.plan.search_races, self.plan.evaluation_seconds
            answer = self._raced(self._worker, config, code, default, settings, number, limit)
        if isinstance(answer, Rejected):
            return StoredTrial(config, answer.reason, answer.message)
        assert isinstance(answer, Race)
        interval = answer.interval
        return StoredTrial(
            config,
            "correct",
            ratio=interval.ratio,
            low=interval.low,
            high=interval.high,
            baseline=answer.baseline,
            candidate=answer.candidate,
        )

    def _raced(
        self,
        worker: Caller,
        config: Config,
        code: bytes,
        default: bytes,
        settings: RaceSettings,
        seed: int,
        limit: float,
    ) -> Race | Rejected:
        request = Evaluate(config, code, self.kernel.default, default, settings, seed)
        try:
            answer = worker.call(request, limit)
        except WorkerError as error:
            if error.reason == "timeout":
                return Rejected("timeout", f"{error}, its timeout, which --limit sets")
            return Rejected("runtime", str(error))
        if isinstance(answer, Rejected):
            # A wrong kernel may have written anywhere, so its process is not reused.
            worker.stop()
        assert isinstance(answer, (Race, Rejected))
        return answer

    def _claim(
        self, study: Study, pool: CompilePool, default: bytes, calibration: Calibration
    ) -> Tuned:
        """Race the finalists again, and then their winner, each in new processes."""
        trials = self._trials(study)
        ranked = sorted(
            (trial for trial in trials if trial.ratio is not None and trial.ratio > 1),
            key=lambda trial: -(trial.ratio or 0),
        )
        finalists = ranked[:_FINALISTS]
        raced: list[tuple[float, Config]] = []
        for trial in finalists:
            found = self._race_again(pool, trial.config, default, 1)
            raced += [(race.interval.ratio, trial.config) for race in found]
        # A candidate that fails when it is run again gets no claim.
        winner, races = self.kernel.default, list[Race]()
        if raced:
            _, fastest = max(raced, key=lambda each: each[0])
            again = self._race_again(pool, fastest, default, self.plan.final_processes)
            if len(again) == self.plan.final_processes:
                winner, races = fastest, again
        return self._reuse(study, winner, races, calibration, len(trials), len(finalists))

    def _race_again(
        self, pool: CompilePool, config: Config, default: bytes, processes: int
    ) -> list[Race]:
        code = pool.submit(config).result()
        if isinstance(code, Rejected):
            return []
        found = []
        for number in range(processes):
            with self._measurer() as worker:
                settings, limit = self.plan.final_races, self._final_limit()
                seed = 1000 + number
                answer = self._raced(worker, config, code, default, settings, seed, limit)
            if isinstance(answer, Race):
                found.append(answer)
        return found

    def _final_limit(self) -> float:
        """Return the timeout of the final races, which are longer than the races of the search."""
        return max(_PATIENCE, self.plan.evaluation_seconds)

    def _reuse(
        self,
        study: Study,
        config: Config,
        races: Sequence[Race],
        calibration: Calibration,
        evaluated: int,
        finalists: int,
    ) -> Tuned:
        if races:
            said = claim(races, calibration, seed=self.target.seed)
        else:
            said = Claim(Verdict.NO_WINNER, Interval(1.0, 1.0, 1.0))
        interval = said.interval
        self.database.claim(
            study,
            StoredClaim(
                config,
                said.verdict.value,
                interval.ratio,
                interval.low,
                interval.high,
                calibration.noise,
                tuple(each.ratios for each in races),
            ),
        )
        return Tuned(study, config, said, evaluated, finalists, transfers=self._transfers)
