"""Kernel Tuner's strategies with the interface ask and tell; needs the package kernel_tuner."""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import TuningError
from ..spaces import SearchSpace
from .inverted import EndedError, Inverted
from .strategy import Outcome, Strategy

PREFIX = "kernel-tuner:"
"""Prefix of the names of these strategies."""
_LARGEST = 250_000
"""Maximum number of configurations, because Kernel Tuner lists the whole space."""
_CIRCLES = 2000
"""Number of consecutive repeated evaluations after which a strategy is considered finished."""
_RUNS = 3
"""Number of runs without a new point after which random points are proposed."""
_SECONDS = 10.0
_UNSCHEDULED = ("brute_force",)
"""Strategies that do not accept the planned number of evaluations."""


class KernelTuner(Strategy):
    """Adapter for a strategy of Kernel Tuner, which calls an evaluator that waits for each value.

    The strategy sees the values of the parameters and the reported times. Known points are answered
    at once. A strategy that ends, or only repeats points, is restarted; if it then finds no new
    point, or asks for none within the timeout, random points are proposed.

    :param name: name of the strategy, such as "genetic_algorithm".
    :param evaluations: planned number of evaluations, over which a strategy such as annealing cools
        down. None: the strategy's own default.
    :param seconds: timeout for a proposal.
    :raises TuningError: kernel_tuner, or a package that the strategy needs, is not installed; the
        strategy is unknown; or the space is too large for it.
    """

    def __init__(
        self,
        space: SearchSpace,
        *,
        seed: int = 0,
        name: str = "genetic_algorithm",
        evaluations: int | None = None,
        seconds: float = _SECONDS,
    ) -> None:
        super().__init__(space, seed=seed)
        self._name, self._seed, self._seconds = name, seed, seconds
        self._tune = strategy_named(name)
        if space.size > _LARGEST:
            raise TuningError(
                f"[search] strategy {PREFIX}{name} lists the whole space, which has "
                f"{space.size:,}"
                f" configurations; the maximum is {_LARGEST:,}"
            )
        self._evaluations = min(evaluations or space.size, space.size)
        self._works = False
        self._unscheduled = evaluations is None or name in _UNSCHEDULED
        self._listed: Any = None
        self._begin()

    def _begin(self) -> None:
        self._run: Inverted[list[int]] | None = None
        self._batch: list[int] = []
        self._missing: set[int] = set()
        self._failed = False
        self._seeds = random.Random(self._seed)
        self._state = _Shared.seeded(self._seed)

    def propose(self, count: int) -> list[int]:
        """Return the points that the strategy asks for next; none while it waits for answers."""
        for _ in range(_RUNS):
            if self._missing or self._failed:
                break
            self._advance()
        if not self._missing:
            return self.fresh(count)
        found = [point for point in self._batch if not self.was_proposed(point)]
        self._batch = found[count:]
        return found[:count]

    def learn(self, outcome: Outcome) -> None:
        """Note the value, for which the strategy may be waiting."""
        self._missing.discard(outcome.point)

    def close(self) -> None:
        """End the thread. A later call restarts the strategy with all reported values."""
        if self._run is not None:
            self._run.close()
        self._begin()

    def _advance(self) -> None:
        """Run the strategy until it asks for unknown points, or ends."""
        run = self._run or Inverted(self._function(), self._seconds)
        self._run, asked = None, None
        with self._state.swapped():
            try:
                asked = run.step()
            except TimeoutError as error:
                self._fail(f"it proposed nothing for {self._seconds:g} s", error)
            except Exception as error:  # noqa: BLE001 - whatever a strategy may raise
                self._fail(f"{type(error).__name__}: {error}", error)
        if asked is not None:
            self._run, self._works = run, True
        elif self._failed:
            warnings.warn(self._warning, RuntimeWarning, stacklevel=2)
        self._batch = asked or []
        self._missing = set(self._batch)

    def _fail(self, why: str, error: Exception) -> None:
        """Raise an error before the strategy's first proposal; later, only warn."""
        text = f"[search] Kernel Tuner's strategy {self._name} failed: {why}"
        if not self._works:
            raise TuningError(text) from error
        self._failed = True
        self._warning = f"{text}; all further points are random"

    def _function(self) -> Callable[[Callable[[list[int]], None]], None]:
        """Return a function that runs the strategy; it holds no reference to this object."""
        tune, evaluations, known = self._tune, self._evaluations, self.values
        if self._listed is None:
            self._listed = _listed(self.space)
        listed = self._listed
        given = {} if self._unscheduled else {"max_fevals": evaluations}
        options = _options(self._name, listed, given, evaluations, self._seeds.randrange(1 << 31))

        def function(ask: Callable[[list[int]], None]) -> None:
            tune(listed, _runner(listed, known, ask), options)

        return function


class _Shared:
    """Isolation of state that a strategy shares with the process: random numbers and output."""

    def __init__(self, numbers: Any, array_numbers: Any) -> None:
        self._states = (numbers, array_numbers)

    @classmethod
    def seeded(cls, seed: int) -> _Shared:
        return cls(random.Random(seed).getstate(), np.random.RandomState(seed).get_state())

    @contextlib.contextmanager
    def swapped(self) -> Iterator[None]:
        """Restore the strategy's generator states and silence its output, within the context."""
        before = (random.getstate(), np.random.get_state())
        default_rng = np.random.default_rng

        def follow(seed: Any = None) -> np.random.Generator:
            """Seed unseeded generators, such as those of SciPy's samplers, reproducibly."""
            return default_rng(np.random.randint(1 << 31) if seed is None else seed)

        self._set(self._states)
        np.random.default_rng = follow
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
        finally:
            np.random.default_rng = default_rng
            self._states = (random.getstate(), np.random.get_state())
            self._set(before)

    @staticmethod
    def _set(states: tuple[Any, Any]) -> None:
        random.setstate(states[0])
        np.random.set_state(states[1])


def strategy_named(name: str) -> Callable[..., Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Some strategies import scipy.stats.qmc during the search. It is imported here, so that
            # random numbers drawn by the import do not change the search.
            import scipy.stats.qmc  # noqa: F401
            from kernel_tuner.interface import strategy_map
    except ImportError as error:
        raise TuningError(
            f"[search] strategy {PREFIX}{name} needs the package kernel_tuner: pip install"
            " 'dl-autotune[kernel-tuner]'"
        ) from error
    if name not in strategy_map:
        known = ", ".join(PREFIX + each for each in strategy_map)
        raise TuningError(f"[search] strategy {PREFIX + name!r} is unknown; available: {known}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: Callable[..., Any] = strategy_map[name].tune
    except ImportError as error:
        raise TuningError(f"[search] strategy {PREFIX}{name} cannot be used: {error}") from error
    return found


def _listed(space: SearchSpace) -> Any:
    """Return Kernel Tuner's search space of these configurations, in the order of their points."""
    from kernel_tuner.searchspace import Searchspace

    cache = {str(point): config for point, config in enumerate(space.configs())}
    values = {each.name: list(each.values) for each in space.parameters}
    return Searchspace(None, None, None, from_cache={"tune_params": values, "cache": cache})


def _options(name: str, listed: Any, given: dict[str, int], evaluations: int, seed: int) -> Any:
    """Return the options that describe the task to a strategy."""
    from kernel_tuner.interface import Options
    from kernel_tuner.util import TuningBudget

    return Options(
        {
            **given,
            "strategy_options": Options(given),
            "budget": TuningBudget(None, evaluations),
            "objective": ["time"],
            "objective_higher_is_better": [False],
            "tune_params": listed.tune_params,
            "restrictions": None,
            "metrics": None,
            "cache": {},
            "seed": seed,
            "strategy": name,
            # No file with the results of other runs exists.
            "simulation_mode": True,
            "verbose": False,
            "quiet": True,
        }
    )


def _runner(listed: Any, known: dict[int, float | None], ask: Callable[[list[int]], None]) -> Any:
    """Return a runner for Kernel Tuner that asks for values instead of measuring them."""
    from kernel_tuner.runners.runner import Runner
    from kernel_tuner.runners.simulation import SimulationDevice
    from kernel_tuner.util import InvalidConfig, RuntimeFailedConfig

    class Asking(Runner):  # type: ignore[misc] # of a package without types
        def __init__(self) -> None:
            super().__init__()
            self.dev = SimulationDevice(1024, {}, True)
            self._visited: set[int] = set()
            self._repeated = 0

        def get_device_info(self) -> Any:
            """Return a dummy device: its limits do not matter for a listed space."""
            return self.dev

        def get_environment(self, tuning_options: Any) -> dict[str, Any]:
            """Return an empty environment."""
            return {}

        def run(self, parameter_space: Sequence[Any], tuning_options: Any) -> list[Any]:
            """Return the results of configurations, in order; None once the budget is used."""
            configs = [tuple(config) for config in parameter_space]
            points = [listed.get_param_config_index(config) for config in configs]
            allowed = self._count(points, tuning_options.budget)
            if wanted := [p for p in dict.fromkeys(points[:allowed]) if p not in (None, *known)]:
                ask(wanted)
            return [
                self._result(config, point) if at < allowed else None
                for at, (config, point) in enumerate(zip(configs, points, strict=True))
            ]

        def _count(self, points: Sequence[int | None], budget: Any) -> int:
            for at, point in enumerate(points):
                if budget.is_done():
                    return at
                if point is None or point in self._visited:
                    self._repeated += 1
                else:
                    self._repeated = 0
                    self._visited.add(point)
                    budget.add_evaluations(1)
            if self._repeated > _CIRCLES:
                raise EndedError
            return len(points)

        def _result(self, config: tuple[Any, ...], point: int | None) -> dict[str, Any]:
            result = dict(zip(listed.tune_params, config, strict=True))
            value = None if point is None else known[point]
            if value is None:
                error = InvalidConfig if point is None else RuntimeFailedConfig
                return {**result, "__error__": error()}
            return {**result, "time": value}

    return Asking()
