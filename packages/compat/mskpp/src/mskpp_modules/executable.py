"""Whole executables: ``compile_executable`` and ``@autotune_v2``."""

from __future__ import annotations

import csv
import functools
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from diopi_proto.foreign_file import SOURCE_BYTES, read_regular_text
from dl_autotune.errors import MarkerError
from dl_autotune.observers import RaceSettings, race

from .building import is_newer, run_script
from .devices import Target
from .errors import MskppError
from .launcher import resolve_includes
from .reporting import (
    LOG,
    SteadyTimes,
    device_lock,
    finish_folder,
    is_debugging,
    report_line,
    substitute_first,
)
from .tuning import Config, check_configs

_SECONDS = 300.0
_SETTINGS = RaceSettings(looks=(4, 8), repeats=1, seconds=20.0)
_RUNS: list[list[tuple[CompiledExecutable, tuple[str, ...]]]] = []


class CompiledExecutable:
    """Compiled program; calling it with arguments runs it."""

    def __init__(self, path: Path, source: Path, build_script: str) -> None:
        self.path, self.source, self.build_script = path, source, build_script

    def __call__(self, *arguments: Any) -> None:
        """Run the program to its end.

        :raises MskppError: its exit code is not 0, or it exceeds the timeout.
        """
        words = tuple(map(str, arguments))
        for each in _RUNS:
            each.append((self, words))
        run_program(self.path, words)


def compile_executable(
    build_script: str,
    src_file: str,
    output_bin_path: str = "_gen_executable",
    use_cache: bool = False,
) -> CompiledExecutable:
    """Build a program.

    :param build_script: script that is called with the source and the program to build.
    :raises MskppError: the script fails, hangs, or does not create the program.
    """
    source, output = Path(src_file).absolute(), Path(output_bin_path).absolute()
    if not source.is_file():
        raise MskppError(f"[mskpp] {src_file} is not a file")
    if not (use_cache and is_newer(output, [source])):
        run_script(build_script, source, output)
    return CompiledExecutable(output, source, str(Path(build_script).absolute()))


def run_program(path: Path, words: Sequence[str]) -> float:
    """Run a program, and return its run time in seconds.

    :raises MskppError: its exit code is not 0, or it exceeds the timeout.
    """
    start = time.perf_counter()
    try:
        done = subprocess.run(
            [str(path), *words], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MskppError(f"[mskpp] {path.name} failed: {error}") from error
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip()[-400:]
        raise MskppError(f"[mskpp] {path.name} ended with status {done.returncode}: {said}")
    return seconds


def autotune_v2(
    configs: Sequence[Config], warmup_times: int = 5
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Tune the program that a function runs, in each call.

    The whole program is timed, including startup and exit. Times are printed, and written
    to ``MSKL_AUTOTUNE_RESULTS_<time>.csv``.

    :param warmup_times: number of warm-up runs, 0 to 500.
    :raises MskppError: a parameter is out of range.
    """
    checked = check_configs(configs)
    if isinstance(warmup_times, bool) or not 0 <= warmup_times <= 500:
        raise MskppError(f"[autotune_v2] warmup_times={warmup_times!r}: must be 0 to 500")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def tuned(*arguments: Any, **named: Any) -> Any:
            runs: list[tuple[CompiledExecutable, tuple[str, ...]]] = []
            _RUNS.append(runs)
            try:
                result = function(*arguments, **named)
            finally:
                _RUNS.remove(runs)
            if not runs:
                raise MskppError(f"[autotune_v2] {function.__name__} did not run a program")
            with device_lock(Target()):
                _tune(*runs[0], checked, warmup_times)
            return result

        return tuned

    return decorate


def _tune(
    program: CompiledExecutable, words: tuple[str, ...], configs: list[Config], warmup: int
) -> None:
    keep = is_debugging()
    folder = Path(tempfile.mkdtemp(prefix="mskpp-"))
    rows: list[tuple[int, Config, float]] = []
    times = SteadyTimes()
    for number, config in enumerate(configs):
        try:
            path = _build(program, config, folder / str(number))
            for _ in range(warmup):
                run_program(path, words)
            found = race(
                functools.partial(run_program, program.path, words),
                functools.partial(run_program, path, words),
                _SETTINGS,
                seed=number,
            )
        except (MskppError, MarkerError) as error:
            LOG.error("No.%d failed: %s, %s", number, error, config)
            continue
        microseconds = times.add(number, found)
        rows.append((number, config, microseconds))
        report_line(f"No.{number}: {microseconds:.3f}μs, {config}")
    finish_folder(folder, keep)
    if rows:
        report_line(f"Best config: No.{times.best}")
    name = Path(f"MSKL_AUTOTUNE_RESULTS_{time.strftime('%Y%m%d%H%M%S')}.csv")
    with name.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["No.", "Config", "TaskDuration(us)", "Args"])
        table.writerows((n, config, f"{time_:.3f}", " ".join(words)) for n, config, time_ in rows)


def _build(program: CompiledExecutable, config: Config, folder: Path) -> Path:
    try:
        text = read_regular_text(program.source, SOURCE_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        raise MskppError(f"[mskpp] {program.source} cannot be read: {error}") from error
    text = substitute_first(text, config, program.source.name)
    folder.mkdir()
    source, output = folder / program.source.name, folder / "program"
    source.write_text(resolve_includes(text, program.source.parent), encoding="utf-8")
    run_script(program.build_script, source, output)
    return output
