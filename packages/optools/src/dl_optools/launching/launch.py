"""Tools that a program is started with, and the variables that select them. Imports no torch."""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, TypeVar

from diopi_proto.worker.system import end_with_parent
from dl_optools.breadcrumbs.names import BREADCRUMBS
from dl_optools.launching.lifetime import Terminated
from dl_optools.launching.unseen_notes import UNSEEN

R = TypeVar("R")
TOOLS_VARIABLE = "DL_TOOLS"
LEVEL_VARIABLE = "DL_TOOLS_LEVEL"
DEVICE_VARIABLE = "DL_TOOLS_DEVICE"
WRONG_USE = 2
"""Exit status if a command line, or a variable of the tools, is invalid."""
TIMED_OUT = 124
"""Exit status of a run that took too long, as with ``timeout``."""
NOT_FOUND = 127
"""Exit status if the program does not exist, as in shells."""
BETWEEN_LOOKS = 1.0
"""Seconds between two checks whether a run is stuck."""
PATIENCE = 30.0
"""Seconds that a program gets to stop before it is killed."""


@dataclass(frozen=True)
class ToolName:
    """Name of a tool on the command line.

    Class, module and variable share one name; the command's name is a word of it.

    :ivar name: name in ``dl tool NAME``.
    :ivar feature: its name for ``apply_feature``, as in ditorch; empty for a plugin's tool.
    :ivar variable: ``OP_<variable>_LIST`` selects its operators; empty for a plugin's tool.
    :ivar home: module and class, ``module:class``; empty for a plugin's tool.
    :ivar help: one line.
    :ivar changes: it changes the results of operators.
    """

    name: str
    feature: str
    variable: str
    home: str
    help: str
    changes: bool = False


TOOL_NAMES = (
    ToolName(
        "capture",
        "op_capture",
        "CAPTURE",
        "dl_optools.capture.capture:OpCapture",
        "write calls as bundles that replay anywhere",
    ),
    ToolName(
        "compare",
        "autocompare",
        "AUTOCOMPARE",
        "dl_optools.compare.autocompare:OpAutoCompare",
        "check results against the CPU's float64",
    ),
    ToolName(
        "time",
        "measure_op_time",
        "TIME_MEASURE",
        "dl_optools.timing.time_measure:OpTimeMeasure",
        "measure how long operators take",
    ),
    ToolName(
        "fallback",
        "fallback",
        "FALLBACK",
        "dl_optools.fallback:OpFallback",
        "run operators on the CPU",
        changes=True,
    ),
    ToolName(
        "observe",
        "dump_op_args",
        "OBSERVE",
        "dl_optools.observe:OpObserve",
        "count calls by shapes and dtypes",
    ),
    ToolName(
        "cast",
        "cast_dtype",
        "DTYPE_CAST",
        "dl_optools.dtype_cast:OpDtypeCast",
        "compute in other dtypes",
        changes=True,
    ),
    ToolName(
        "overflow",
        "overflow_check",
        "OVERFLOW_CHECK",
        "dl_optools.overflow.overflow_check:OpOverflowCheck",
        "find the origin of inf and nan",
    ),
)


class UnknownToolError(ValueError):
    """A name is not a tool or is repeated, or no tool is named."""


def tools_of(text: str, others: Iterable[ToolName] = ()) -> list[ToolName]:
    """Parse a list of tools such as ``capture,compare``; feature names are accepted, too.

    :param others: tools that are not part of this package.
    :raises UnknownToolError: a name is unknown or repeated, or the list is empty.
    """
    tools = (*TOOL_NAMES, *others)
    known = {**{x.feature: x for x in TOOL_NAMES}, **{x.name: x for x in tools}}
    found: dict[ToolName, None] = {}
    for name in filter(None, (part.strip() for part in text.split(","))):
        if name not in known:
            raise UnknownToolError(
                f"{name!r} is not a tool; the tools are {', '.join(x.name for x in tools)}"
            )
        if known[name] in found:
            raise UnknownToolError(f"the tool {known[name].name!r} is listed twice")
        found[known[name]] = None
    if not found:
        raise UnknownToolError(
            "no tool is named; the tools are " + ", ".join(x.name for x in tools)
        )
    return list(found)


def exact_patterns(names: Iterable[str]) -> str:
    """Return a list of operators for ``OP_*_LIST`` that matches these names only."""
    return ",".join(map(re.escape, names))


STARTED = "runs: "
"""Prefix of a note that names a tool that runs."""
ENDED = "ended: "
"""Prefix of a note that a process writes when its tools have reported everything."""
UNMATCHED = "unmatched: "
"""Prefix of a note with a tool's patterns that matched no operator of a process."""
REPORT = "report: "
"""Prefix of a note with a tool's results in a process."""
WHY_NONE = (
    "The program imported no torch, or the Python that ran it has no dl-optools installed, or "
    "TORCH_DEVICE_BACKEND_AUTOLOAD=0 is set."
)
"""Possible reasons for a run without any note."""


def complaints(notes: Iterable[str]) -> list[str]:
    """Return the distinct notes about tools that could not run."""
    return [
        x
        for x in dict.fromkeys(notes)
        if not x.startswith((STARTED, ENDED, UNMATCHED, REPORT, UNSEEN))
    ]


def _started_tools(notes: Iterable[str]) -> dict[str, list[str]]:
    """Return the tools that each process started."""
    begun: dict[str, list[str]] = {}
    for line in notes:
        if line.startswith(STARTED):
            tool, _, process = line.removeprefix(STARTED).rpartition(", ")
            begun.setdefault(process, []).append(tool)
    return begun


def unfinished_processes(notes: Sequence[str]) -> list[int]:
    """Return the processes that started tools and ended before these could stop."""
    ended = {x.removeprefix(ENDED) for x in notes if x.startswith(ENDED)}
    return [int(x.removeprefix("process ")) for x in _started_tools(notes) if x not in ended]


def describe_lost(notes: Sequence[str]) -> str:
    """Describe processes that ended before their tools could report; empty if there are none."""
    begun = _started_tools(notes)
    missing = [f"process {process}" for process in unfinished_processes(notes)]
    if not missing:
        return ""
    found = dict.fromkeys(tool for process in missing for tool in begun[process])
    # Its results belong to a process that has died.
    tools = ", ".join(tool for tool in found if tool != BREADCRUMBS)
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    return (
        f"what {tools} found in {', '.join(missing[:3])}{more} is lost: it ended by a signal, or "
        "in native code, before tools could report it"
    )


def run_program(
    command: Sequence[str],
    environ: Mapping[str, str],
    output: IO[Any] | None = None,
    timeout: float | None = None,
    is_stuck: Callable[[], bool] | None = None,
) -> int:
    """Run a program to its end and return its exit status, 128 + n after signal n.

    :param output: file for its output and errors; None: the caller's streams.
    :param timeout: seconds after which it is killed.
    :param is_stuck: polled; the program is killed when it returns True.
    :raises OSError: the program does not exist, or cannot be run.
    :raises subprocess.TimeoutExpired: it took too long, or was stuck.
    """
    process = subprocess.Popen(
        list(command),
        env=dict(environ),
        stdout=output,
        stderr=None if output is None else subprocess.STDOUT,
        # Launchers end their ranks at SIGTERM; runs with a log have nothing to save.
        preexec_fn=partial(
            end_with_parent, signal.SIGTERM if output is None else signal.SIGKILL, os.getpid()
        ),
    )
    try:
        if is_stuck is not None:
            watch(process.wait, timeout, is_stuck, subprocess.TimeoutExpired)
        status = _status_of(process, timeout, saves=output is None)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return status if status >= 0 else 128 + abs(status)


def watch(
    wait: Callable[[float | None], R],
    timeout: float | None,
    is_stuck: Callable[[], bool] | None,
    too_long: type[Exception],
) -> R:
    """Wait for a run, and poll whether it is stuck.

    :param wait: waits for the given number of seconds; None: for ever.
    :param too_long: exception that ``wait`` raises after that time; raised if the run exceeds
        ``timeout``, or is stuck.
    """
    if is_stuck is None:
        return wait(timeout)
    deadline = math.inf if timeout is None else time.monotonic() + timeout
    while True:
        left = deadline - time.monotonic()
        try:
            return wait(min(max(left, 0.0), BETWEEN_LOOKS))
        except too_long:
            if left <= BETWEEN_LOOKS or is_stuck():
                raise


def _status_of(process: subprocess.Popen[Any], timeout: float | None, *, saves: bool) -> int:
    """Wait for a process and return its exit status.

    :param saves: if stopped, it gets time to save results.
    """
    try:
        return process.wait(timeout)
    except Terminated:
        if not saves:
            raise
        process.terminate()
    except KeyboardInterrupt:
        # The program received the signal as well.
        if not saves:
            raise
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def program_of(rest: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split options from the program after them; ``--`` is optional if there are no options."""
    rest = list(rest)
    if rest and not rest[0].startswith("-"):
        return [], rest
    if "--" not in rest:
        return rest, []
    at = rest.index("--")
    return rest[:at], rest[at + 1 :]
