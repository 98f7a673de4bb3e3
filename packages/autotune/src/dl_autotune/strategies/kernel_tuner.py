"""Kernel Tuner's strategies behind the same ask and tell; needs the package kernel_tuner."""

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
"""Configurations: Kernel Tuner lists all of a space."""
_CIRCLES = 2000
"""Evaluations in a row that repeat what is known, after which a strategy is at its end."""
_RUNS = 3
"""Runs of a strategy that finds nothing new, before random points are taken."""
_SECONDS = 10.0
_UNSCHEDULED = ("brute_force",)
"""Strategies that refuse to be told how many evaluations there will be."""


class KernelTuner(Strategy):
    """A strategy of Kernel Tuner, which calls what evaluates; here it waits for each answer.

    It sees the values of the parameters and no time but what is reported. What is known already is
    answered at once. When it ends, or only repeats itself, it begins again; when it finds nothing
    new then, or does not come to its next question at all, random points are proposed.

    :param name: of the strategy, such as "genetic_algorithm".
    :param evaluations: how many there will be: what cools down does so by then. None: a
        strategy's own default.
    :param seconds: that it may take for a proposal, before it is given up.
    :raises TuningError: kernel_tuner, or what the strategy needs, is not installed; there is no
        such strategy; the space is too large for it.
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
                f"[search] strategy {PREFIX}{name} lists the whole space: of {space.size:,}"
                f" configurations that is too much, {_LARGEST:,} are not"
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
        """It may be what the strategy waits for."""
        self._missing.discard(outcome.point)

    def close(self) -> None:
        """End the thread. A later question starts the strategy again, with all reported values."""
        if self._run is not None:
            self._run.close()
        self._begin()

    def _advance(self) -> None:
        """Let it run up to the next points that it does not know, or to its end."""
        run = self._run or Inverted(self._function(), self._seconds)
        self._run, asked = None, None
        with self._state.swapped():
            try:
                asked = run.step()
            except TimeoutError as error:
                self._fail(f"it asked nothing for {self._seconds:g} s", error)
            except Exception as error:  # noqa: BLE001 - whatever a strategy may raise
                self._fail(f"{type(error).__name__}: {error}", error)
        if asked is not None:
            self._run, self._works = run, True
        elif self._failed:
            warnings.warn(self._warning, RuntimeWarning, stacklevel=2)
        self._batch = asked or []
        self._missing = set(self._batch)

    def _fail(self, why: str, error: Exception) -> None:
        """A search that has begun goes on without it."""
        text = f"[search] Kernel Tuner's strategy {self._name} failed: {why}"
        if not self._works:
            raise TuningError(text) from error
        self._failed = True
        self._warning = f"{text}; from here on points are random"

    def _function(self) -> Callable[[Callable[[list[int]], None]], None]:
        """A run of the strategy; holds what it needs, and not this object."""
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
        """Let the global generators go on where they were left in here."""
        before = (random.getstate(), np.random.get_state())
        default_rng = np.random.default_rng

        def follow(seed: Any = None) -> np.random.Generator:
            """One without a seed, as SciPy's samplers make it, is of the same random numbers."""
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
            # Some import it while they search, and what an import draws is not of the search.
            import scipy.stats.qmc  # noqa: F401
            from kernel_tuner.interface import strategy_map
    except ImportError as error:
        raise TuningError(
            f"[search] strategy {PREFIX}{name} needs the package kernel_tuner: pip install"
            " 'dl-autotune[kernel-tuner]'"
        ) from error
    if name not in strategy_map:
        known = ", ".join(PREFIX + each for each in strategy_map)
        raise TuningError(f"[search] strategy {PREFIX + name!r} is none of {known}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: Callable[..., Any] = strategy_map[name].tune
    except ImportError as error:
        raise TuningError(f"[search] strategy {PREFIX}{name} cannot be used: {error}") from error
    return found


def _listed(space: SearchSpace) -> Any:
    """Kernel Tuner's search space of the same configurations, in the order of their points."""
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
            # There is no file of what other runs have found.
            "simulation_mode": True,
            "verbose": False,
            "quiet": True,
        }
    )


def _runner(listed: Any, known: dict[int, float | None], ask: Callable[[list[int]], None]) -> Any:
    """Kernel Tuner's runner that has others evaluate."""
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
            """The results of configurations, in their order; None when the budget is used up."""
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
