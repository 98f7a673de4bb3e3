"""``dl coverage --program``: run a program, and rank the operators that the vendor should implement
next for it.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from diopi_proto.text import write_error, write_output
from dl_core import config
from dl_core.commands_run import FRAMEWORKS, obstacles, python_command
from dl_core.environment import environment
from dl_core.files import check_free, write_text
from dl_core.program_counts import (
    Candidate,
    Fallbacks,
    ProgramCounts,
    candidates,
    others,
    read_counts,
)
from dl_core.startup import COUNTS_FOLDER
from dl_core.tables import show

NOTHING_EXAMINED = 2
NOT_FOUND = 127
"""Exit code if the program does not exist, as in shells."""


def examine_program(program: Sequence[str], report: Path | None, force: bool) -> int:
    """Run a program, a script or ``-m MODULE`` with its arguments, and print its ranking.

    :param report: file for the ranking as JSON.
    :returns: the program's exit code; 2 if it cannot run on dl or did not, 127 without the script.
    :raises OutputError: the file for the report cannot be written.
    """
    if report is not None:
        check_free([report], force)
    if program[0] == "-m" and len(program) == 1:
        _complain("-m needs a module name.")
        return NOTHING_EXAMINED
    if not program[0].startswith("-") and not Path(program[0]).exists():
        _complain(f"the program {program[0]} does not exist.")
        return NOT_FOUND
    variables = {**FRAMEWORKS, **environment()}
    problems = [*config.read(variables).problems, *obstacles(variables)]
    if problems:
        for problem in problems:
            _complain(problem)
        return NOTHING_EXAMINED
    sys.stdout.flush()
    with tempfile.TemporaryDirectory(prefix="dl-coverage-") as folder:
        code = _run(python_command(program), {**variables, COUNTS_FOLDER: folder})
        counts = read_counts(Path(folder))
    if report is not None:
        made = as_json(program, code, counts)
        write_text(report, json.dumps(made, indent=1) + "\n", force)
    _show(counts)
    if counts.native + counts.on_cpu == 0:
        _complain(_why_nothing(counts))
        return code or NOTHING_EXAMINED
    return code


def _complain(text: str) -> None:
    write_error(f"dl coverage: {text}\n")


def _run(command: Sequence[str], variables: Mapping[str, str]) -> int:
    """Run a command to its end, and return its exit code as a shell does."""
    process = subprocess.Popen(command, env=dict(variables))
    with _signals_for(process):
        code = process.wait()
    return code if code >= 0 else 128 - code


@contextmanager
def _signals_for(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Leave signals to a program: its counts are reported however it ends.

    The terminal sends Ctrl-C to both processes, other senders SIGTERM to this one only.
    """

    def forward(number: int, _: object) -> None:
        if process.poll() is None:
            process.send_signal(number)

    handlers: Mapping[signal.Signals, Any] = {
        signal.SIGINT: lambda *_: None,
        signal.SIGTERM: forward,
    }
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _why_nothing(counts: ProgramCounts) -> str:
    if counts.lost:
        return (
            "the program's calls could not be counted: it ended by a signal, by os._exit or in "
            "native code before it could report them."
        )
    if counts.processes:
        return "the program ran no operator on dl."
    return "the program did not import torch, or it disabled the dl device."


def _show(counts: ProgramCounts) -> None:
    calls = counts.native + counts.on_cpu
    if calls == 0:
        return
    share, time = 100 * counts.on_cpu / calls, _milliseconds(counts.nanoseconds)
    write_output(
        f"\n{counts.native} operators ran in the vendor's code, and {counts.on_cpu} on the CPU "
        f"({share:.1f} %), which took {time} ms.\n"
    )
    if counts.lost:
        ended = "1 process" if counts.lost == 1 else f"{counts.lost} processes"
        write_output(f"The calls of {ended} are missing, which ended before reporting them.\n")
    if next_ := candidates(counts.fallbacks):
        write_output("\nImplement next\n")
        show(
            ("", "operator", "calls", "ms on the CPU", "share", "ATen overloads", "reason"),
            [_candidate_row(at, each, counts) for at, each in enumerate(next_, 1)],
        )
    if rest := others(counts.fallbacks):
        write_output("\nOn the CPU for other reasons\n")
        show(
            ("ATen overload", "calls", "ms on the CPU", "share", "reason"),
            [(x.overload, *_cost_cells(x, counts), x.text) for x in rest],
        )


def _candidate_row(rank: int, each: Candidate, counts: ProgramCounts) -> tuple[str, ...]:
    reason, *more = each.reasons
    reason += f" (and {len(more)} more)" if more else ""
    overloads = ", ".join(each.overloads)
    return (str(rank), each.operator, *_cost_cells(each, counts), overloads, reason)


def _cost_cells(each: Candidate | Fallbacks, counts: ProgramCounts) -> tuple[str, str, str]:
    share = 100 * each.nanoseconds / counts.nanoseconds if counts.nanoseconds else 0.0
    return str(each.count), _milliseconds(each.nanoseconds), f"{share:.1f} %"


def _milliseconds(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e6:.3f}" if nanoseconds < 10_000_000 else f"{nanoseconds / 1e6:.1f}"


def as_json(program: Sequence[str], code: int, counts: ProgramCounts) -> dict[str, Any]:
    """Return the ranking as data."""
    return {
        "program": list(program),
        "exit_code": code,
        "processes": counts.processes,
        "processes_without_counts": counts.lost,
        "native_calls": counts.native,
        "cpu_calls": counts.on_cpu,
        "cpu_nanoseconds": counts.nanoseconds,
        "implement_next": [
            {
                "operator": each.operator,
                "count": each.count,
                "nanoseconds": each.nanoseconds,
                "overloads": list(each.overloads),
                "reasons": [_fallbacks_json(x) for x in each.fallbacks],
            }
            for each in candidates(counts.fallbacks)
        ],
        "others": [_fallbacks_json(x) for x in others(counts.fallbacks)],
    }


def _fallbacks_json(each: Fallbacks) -> dict[str, Any]:
    return {
        "overload": each.overload,
        "cause": each.cause,
        "text": each.text,
        "count": each.count,
        "nanoseconds": each.nanoseconds,
    }
