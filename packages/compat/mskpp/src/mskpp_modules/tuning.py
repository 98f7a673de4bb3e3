"""``@autotune``: configurations of a kernel compared with the unmodified kernel."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dl_autotune.errors import MarkerError
from dl_autotune.observers import Calibration, Claim, Race, RaceSettings, claim
from dl_autotune.runners.worker import Worker, WorkerError

from .building import compile_for, run_script
from .devices import Target, describe, target
from .errors import MskppError
from .launcher import resolve_includes
from .recording import RECORDINGS, Launched
from .reporting import (
    LOG,
    SteadyTimes,
    device_lock,
    finish_folder,
    is_debugging,
    report_line,
    substitute_first,
)
from .running import Compare, serve

_PROCESSES = 3
"""Number of processes in which the best configuration is measured again."""
_SECONDS = 300.0
_MOST_COMPILERS = 32
_HOST = Target()
Config = dict[str, str]


@dataclass(frozen=True)
class Tuned:
    """Result of tuning.

    :ivar microseconds: times by index of the configuration, see :class:`.SteadyTimes`; None if it
        failed.
    :ivar failures: reasons of failures by index.
    :ivar best: index of the best configuration; None if all failed.
    :ivar verdict: verdict on the best one against the unmodified kernel, measured in fresh
        processes.
    :ivar device: vendor, number and name of the device.
    """

    microseconds: tuple[float | None, ...]
    failures: dict[int, str]
    best: int | None
    verdict: Claim | None
    device: str


def autotune(
    configs: Sequence[Config],
    warmup: int = 300,
    repeat: int = 1,
    device_ids: Sequence[int] = (0,),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Tune the kernel that a function launches, in each call.

    The function itself runs once, with the unmodified kernel, and its result is returned. The
    result of tuning is in the attribute ``tuned``.

    :param configs: values by the key of a marker in the kernel's source.
    :param warmup: warm-up time in microseconds, 1 to 100000.
    :param repeat: minimum number of timed launches, 1 to 10000.
    :param device_ids: devices of the vendor, of which the first is used.
    :raises MskppError: a parameter is out of range.
    """
    checked = check_configs(configs)
    for name, value, most in (("warmup", warmup, 100000), ("repeat", repeat, 10000)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise MskppError(f"[autotune] {name}={value!r}: must be 1 to {most}")
    if not list(device_ids):
        raise MskppError("[autotune] device_ids is empty: pass one or more")
    on = target(next(iter(device_ids)))

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def tuned(*arguments: Any, **named: Any) -> Any:
            launches: list[Launched] = []
            RECORDINGS.append(launches)
            try:
                result = function(*arguments, **named)
            finally:
                RECORDINGS.remove(launches)
            if not launches:
                raise MskppError(f"[autotune] {function.__name__} did not launch a kernel")
            with device_lock(on):
                found = tune(launches[0], checked, warmup, repeat, on)
            tuned.tuned = found  # type: ignore[attr-defined]
            return result

        return tuned

    return decorate


def check_configs(configs: Sequence[Config]) -> list[Config]:
    """Check configurations, and return copies.

    :raises MskppError: there are no configurations, or one is not a mapping of strings.
    """
    if not configs:
        raise MskppError("[autotune] configs is empty: pass one or more")
    for number, config in enumerate(configs):
        if not isinstance(config, dict) or not config:
            raise MskppError(f"[autotune] configs[{number}] is {config!r}: pass a dict of strings")
        for key, value in config.items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise MskppError(f"[autotune] configs[{number}]: {key!r}: {value!r} are not str")
    return [dict(config) for config in configs]


def tune(
    launch: Launched, configs: list[Config], warmup: int, repeat: int, on: Target = _HOST
) -> Tuned:
    """Build all configurations, time each against the unmodified kernel, and measure the best
    again.

    Prints a line for each correct configuration, and the index of the best.
    """
    if launch.kernel.generated is None:
        raise MskppError("[autotune] the kernel is a binary without source, which cannot be tuned")
    settings = RaceSettings(looks=(max(4, -(-repeat // 3)),), seconds=10.0)
    keep = is_debugging()
    folder = Path(tempfile.mkdtemp(prefix="mskpp-"))
    times = SteadyTimes()
    failures: dict[int, str] = {}
    compilers = min(max((os.cpu_count() or 1) // 2, 1), _MOST_COMPILERS)
    with ThreadPoolExecutor(compilers) as pool, Worker(serve) as worker:
        # Built again, because the function's own library may not exist after it has returned.
        baseline = pool.submit(_build, launch, {}, folder / "default", on)
        building = [
            pool.submit(_build, launch, config, folder / str(number), on)
            for number, config in enumerate(configs)
        ]
        for number, config in enumerate(configs):
            try:
                request = _request(launch, baseline, building[number], on, warmup, settings, number)
                found = _raced(worker, request)
            except (MskppError, MarkerError, WorkerError) as error:
                failures[number] = str(error)
                LOG.error("No.%d failed: %s, %s", number, error, config)
                continue
            report_line(f"No.{number}: {times.add(number, found):.3f}μs, {config}")
        best = times.best
        verdict = None
        if best is None:
            LOG.error("no configuration ran with correct results")
        else:
            report_line(f"Best config: No.{best}")
            requests = [
                _request(launch, baseline, building[best], on, warmup, settings, 1000 + number)
                for number in range(_PROCESSES)
            ]
            verdict = _again(requests)
            LOG.info("No.%d against the unmodified kernel: %s", best, verdict)
    finish_folder(folder, keep)
    microseconds = tuple(times.by_number.get(number) for number in range(len(configs)))
    return Tuned(microseconds, failures, best, verdict, describe(on))


def _build(launch: Launched, config: Config, folder: Path, on: Target) -> Path:
    generated, script = launch.kernel.generated, launch.kernel.build_script
    assert generated is not None
    assert script is not None
    kernel = generated.config
    text = substitute_first(kernel.text(), config, kernel.path.name)
    folder.mkdir()
    launcher, output = folder / "_gen_launch.cpp", folder / "_gen_module.so"
    LOG.debug("building %s in %s", config or "the unmodified kernel", folder)
    source = folder / kernel.path.name
    if not on.is_host:
        source.write_text(text, encoding="utf-8")
        compile_for(on, generated, text, output)
        return output
    source.write_text(resolve_includes(text, kernel.path.parent), encoding="utf-8")
    launcher.write_text(generated.source(source), encoding="utf-8")
    run_script(script, launcher, output)
    return output


def _request(
    launch: Launched,
    baseline: Future[Path],
    building: Future[Path],
    on: Target,
    warmup: float,
    settings: RaceSettings,
    seed: int,
) -> Compare:
    return Compare(
        building.result(),
        baseline.result(),
        on,
        launch.blocks,
        launch.arguments,
        warmup,
        settings,
        seed,
    )


def _raced(worker: Worker, request: Compare) -> Race:
    try:
        found = worker.call(request, _SECONDS)
    except WorkerError:
        worker.stop()
        raise
    assert isinstance(found, Race)
    return found


def _again(requests: Sequence[Compare]) -> Claim | None:
    races = []
    for request in requests:
        with Worker(serve) as worker:
            try:
                races.append(_raced(worker, request))
            except WorkerError as error:
                LOG.error("the best configuration failed when it was measured again: %s", error)
                return None
    return claim(races, Calibration(0.0, 1), seed=0)
