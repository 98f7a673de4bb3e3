"""``dl tune model``: tuning of the calls of an unmodified program, and timing of the program."""

from __future__ import annotations

import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from diopi_proto.worker import CommandRun

from ..errors import ArgumentsError, MeasurementError, TuningError
from ..location import reveal
from ..observers.interval import Interval, bootstrap
from ..observers.load import format_load_warning
from ..runners.database import Database
from .call import Call
from .plan import OperatorPlan
from .program import run
from .recording import FOLDER, recorded
from .tuner import TunedCall, take_back, tune_call

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_TOLERATED = 1.3
"""Duration of the command relative to its budget above which it reports what took longer."""
_LEAST_SECONDS = 5.0
"""Minimum budget of a call in seconds."""
_LEAST_SHARE = 0.005
"""Share of the program's time in operators below which a call is not tuned."""


class EndedOtherwiseError(MeasurementError):
    """A whole run ended with a different status than the first run: all selections are
    discarded."""


@dataclass(frozen=True)
class TunedModel:
    """Result of tuning a program.

    :ivar calls: tuned calls, by their time in the program.
    :ivar left: number of calls with choices that the budget did not reach.
    :ivar whole: claim for the ratio of whole runs, before divided by after; None if no
        implementation was changed, in which case the program is not measured.
    :ivar outputs: difference of the program's output with the choices; empty if there is none.
    :ivar in_use: maximum number of processors in use by other processes.
    """

    calls: tuple[TunedCall, ...]
    left: int
    whole: Interval | None
    outputs: str
    in_use: float = 0.0
    overrun: str = ""
    """Description of what took longer than the budget; empty if nothing did."""


def tune_model(
    command: Sequence[str],
    vendor: str,
    database: Database,
    plan: OperatorPlan,
    *,
    runs: int | None,
    say: Callable[[str], object],
) -> TunedModel:
    """Tune the calls of a program, the slowest first, and time the whole program.

    :param plan: budget of the whole command: the recorded run, the calls, and the pairs.
    :param runs: number of pairs of whole runs, without and with the selections. None: five, or as
        many as fit into half of the budget, but at least two.
    :raises TuningError: the program fails, has no calls with choices, does not end the same way
    twice, or ends with another status with the selections, which are then discarded.
    """
    begin = time.monotonic()
    earlier = database.choices()
    calls = record_calls(command, vendor)
    recorded_seconds = time.monotonic() - begin
    pairs = runs or pairs_within(plan.seconds, recorded_seconds)
    reserved = 2 * pairs * recorded_seconds
    if recorded_seconds + reserved > plan.seconds:
        say(
            f"the program takes {recorded_seconds:.1f} s; its recorded run and {pairs} pairs of"
            f" runs take about {recorded_seconds + reserved:.0f} s, more than --seconds"
            f" {plan.seconds:g}"
        )
    total = sum(seconds for _, _, seconds in calls)
    worth = [entry for entry in calls if entry[2] >= _LEAST_SHARE * total]
    say(f"{len(worth)} calls with choices take {total:.2f} s of the program in operators")
    tuned: list[TunedCall] = []
    deadline = begin + plan.seconds - reserved
    overhead = 0.0
    for call, count, seconds in worth:
        # The first call is tuned in any case.
        rest = deadline - time.monotonic() - overhead
        if rest <= 0 and tuned:
            break
        share = max(_LEAST_SECONDS, min(rest, plan.seconds * seconds / total))
        one = OperatorPlan(share, plan.processes, plan.seed)
        started = time.monotonic()
        tuned.append(tune_call(call, vendor, database, one))
        # Processes that import torch, and final races, which do not depend on the share.
        overhead = max(overhead, time.monotonic() - started - share, 0.0)
        verdict = tuned[-1].claimed or "no significant winner"
        say(f"{count} x {call}: {verdict}")
    calls_seconds = time.monotonic() - begin - recorded_seconds
    whole, outputs = None, ""
    if any(each.chosen for each in tuned):
        environment = {"DL_VENDORS": vendor, "DL_TUNING_DATABASE": reveal(database.path)}
        try:
            whole, outputs = compare(command, environment, runs=pairs, seed=plan.seed)
        except EndedOtherwiseError:
            take_back(tuned, earlier, database)
            raise
    in_use = max((each.in_use for each in tuned), default=0.0)
    took = time.monotonic() - begin
    overrun = ""
    if took > _TOLERATED * plan.seconds:
        overrun = (
            f"{took:.0f} s instead of --seconds {plan.seconds:g}: {recorded_seconds:.0f} s for the"
            f" recorded run, {calls_seconds:.0f} s for the calls,"
            f" {took - recorded_seconds - calls_seconds:.0f} s for whole runs"
        )
    return TunedModel(tuple(tuned), len(worth) - len(tuned), whole, outputs, in_use, overrun)


def pairs_within(seconds: float, one: float) -> int:
    """Return the number of pairs of whole runs that fit into half of a budget: two to five."""
    return max(2, min(5, int(seconds / (4 * one)) if one > 0 else 5))


def record_calls(command: Sequence[str], vendor: str) -> list[tuple[Call, int, float]]:
    """Run a program once and return its distinct calls that have choices, the longest first.

    :raises TuningError: the program fails, or has no such call.
    """
    with tempfile.TemporaryDirectory(prefix="dl-tune-") as folder:
        tools = {"DL_TOOLS": "tuning-calls", FOLDER: folder, "DL_TUNING": "off"}
        # Calls of a compiled graph bypass torch's dispatch modes; calls of the function do not.
        tools["TORCHDYNAMO_DISABLE"] = "1"
        done = run(command, {**tools, "DL_VENDORS": vendor})
        if done.status != 0:
            raise MeasurementError(
                f"[tune] the program fails even without tuning: it ended with status {done.status}"
            )
        calls = recorded(Path(folder))
        if calls is None:
            raise TuningError(
                "[tune] the program's calls were not recorded. The program has to import torch, and"
                " its environment needs dl-optools, which starts the recorder"
            )
    if not calls:
        raise MeasurementError(
            "[tune] the program has nothing to tune: none of its operators has tunable parameters "
            f"on vendor {vendor}"
        )
    return calls


def compare(
    command: Sequence[str], environment: dict[str, str], *, runs: int, seed: int
) -> tuple[Interval, str]:
    """Time pairs of whole runs in random order, without and with the selections.

    :raises EndedOtherwiseError: a run fails, although the recorded run did not.
    """
    rng = random.Random(seed)
    ratios: list[float] = []
    difference = ""
    for _ in range(runs):
        found: dict[str, CommandRun] = {}
        for tuning in rng.sample(("off", "on"), 2):
            found[tuning] = run(command, {**environment, "DL_TUNING": tuning})
        if found["off"].status != 0:
            raise EndedOtherwiseError(
                "[tune] the program does not end the same way twice: without choices it ended"
                f" with status {found['off'].status}, and with 0 before. The new choices are"
                " discarded; tune it when it always ends with 0"
            )
        if found["on"].status != 0:
            raise EndedOtherwiseError(
                "[tune] with the choices the program ends with status"
                f" {found['on'].status}, not 0. The new choices are discarded; DL_TUNING=off"
                " runs without any choice"
            )
        ratios.append(found["off"].seconds / found["on"].seconds)
        difference = difference or differs(found["off"], found["on"])
    return bootstrap(ratios, confidence=0.95, seed=seed), difference


def differs(before: CommandRun, after: CommandRun) -> str:
    """Describe the difference of the outputs of two runs; empty if there is none."""
    if before.output == after.output:
        return ""
    if _masked(before.output) != _masked(after.output):
        pairs = zip_longest(before.output.split("\n"), after.output.split("\n"), fillvalue="")
        first = next(n for n, (a, b) in enumerate(pairs, 1) if _masked(a) != _masked(b))
        return f"its text differs from line {first} on"
    numbers = zip(_NUMBER.findall(before.output), _NUMBER.findall(after.output), strict=True)
    off = [abs(float(a) - float(b)) / max(abs(float(a)), 1e-12) for a, b in numbers]
    return f"numbers that it prints differ by up to {max(off):.2g} of their size"


def _masked(text: str) -> str:
    return _NUMBER.sub("#", text)


def format_model(tuned: TunedModel) -> str:
    """Format the result as lines."""
    chosen = sum(bool(each.chosen) for each in tuned.calls)
    lines = [
        f"calls   {len(tuned.calls)} tuned, {chosen} with another implementation, {tuned.left} left"
        " by the budget"
    ]
    whole = tuned.whole
    if whole is None:
        lines.append("program not measured: no implementation was changed")
    else:
        verdict = "no significant change"
        if whole.faster:
            verdict = "faster"
        elif whole.slower:
            verdict = "slower"
        lines.append(f"outputs {tuned.outputs or 'identical'}")
        lines.append(f"program {verdict}: {whole} (whole runs, before by after)")
        if chosen and verdict != "faster":
            lines.append(
                "choices are kept, because each call is faster: dl tune show, dl tune forget"
            )
    if warning := format_load_warning(tuned.in_use):
        lines.append(f"warning {warning}")
    if tuned.overrun:
        lines.append(f"seconds {tuned.overrun}")
    return "\n".join(lines) + "\n"


def program_of(rest: Sequence[str]) -> list[str]:
    """Return the command after ``--``; ``python`` is replaced by this interpreter.

    :raises ArgumentsError: there is no command.
    """
    command = [word for number, word in enumerate(rest) if number or word != "--"]
    if not command:
        raise ArgumentsError("[tune] name the program: dl tune model -- python train.py")
    return [sys.executable if command[0] == "python" else command[0], *command[1:]]
