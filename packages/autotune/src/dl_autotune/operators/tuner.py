"""Search for the fastest implementation of a call, confirmed by races in fresh processes."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diopi_proto.worker import Handler, Worker, WorkerError

from ..errors import MeasurementError, TuningError
from ..observers.calibration import Calibration
from ..observers.claim import Claim, Verdict, claim
from ..observers.interval import Interval
from ..observers.load import BUSY, processors_in_use
from ..observers.race import Race
from ..runners.database import Database, StoredChoice, StoredClaim, StoredTrial, Study
from .call import Call
from .plan import OperatorPlan

Ask = Callable[[dict[str, Any]], dict[str, Any]]
"""Function that runs a job of :mod:`.worker` in a separate process."""
_LONGEST = 30 * 86400.0
"""Maximum timeout of a process in seconds; the system does not accept infinite timeouts."""
_PATIENCE = 60.0
"""Additional timeout of a process in seconds, for importing torch and for warm-up."""


@dataclass(frozen=True)
class TunedCall:
    """Result of tuning a call.

    :ivar keys: choice points of the call, with the names of their choices.
    :ivar chosen: selected choice by key; empty if the default stays.
    :ivar claimed: claim for the call with all selections; None if nothing was worth a race.
    :ivar refused: choices that were not timed, with the reasons.
    """

    call: Call
    identity: str
    keys: Mapping[str, tuple[str, ...]]
    chosen: Mapping[str, str]
    claimed: Claim | None
    refused: tuple[tuple[str, str], ...]
    seconds: float = field(default=0.0)
    """Seconds of one call before tuning."""
    in_use: float = field(default=0.0)
    """Number of processors in use by other processes during tuning."""
    study: Study | None = field(default=None)
    """Identity under which it is stored; None if there are no choices."""
    before: StoredClaim | None = field(default=None)
    """Claim of an earlier run."""


def ask_child(job: dict[str, Any]) -> dict[str, Any]:
    """Run a job in a new process without a table of choices.

    :raises TuningError: it fails, crashes or takes too long.
    """
    environment = {**os.environ, "DL_TUNING": "off", "DL_VENDORS": job["vendor"]}
    with Worker(_answers, env=environment, bare=(TuningError,)) as worker:
        try:
            answer: dict[str, Any] = worker.call(job, min(4 * job["seconds"] + _PATIENCE, _LONGEST))
        except WorkerError as error:
            # A call that cannot be made is refused when it is made first.
            message, kind = str(error), TuningError if job["do"] == "search" else MeasurementError
            if not message.startswith("[tune]"):
                kind = MeasurementError
                # The last informative line: C++ exceptions often end with a quotation mark.
                lines = [line.strip() for line in error.output.splitlines()]
                words = [message, *[line for line in lines if re.search(r"\w", line)][-1:]]
                message = f"[tune] the process that measures failed: {': '.join(words)[:400]}"
            raise kind(message) from error
    return answer


def _answers() -> Handler:
    # Imports torch.
    from .worker import answer

    return answer


def tune_call(
    call: Call, vendor: str, database: Database, plan: OperatorPlan, ask: Ask = ask_child
) -> TunedCall:
    """Tune one call and store the result, which replaces an earlier one.

    :raises TuningError: the call fails, or the vendor has nothing to choose between.
    """
    in_use = processors_in_use()
    job = {"call": call.as_json(), "vendor": vendor, "seed": plan.seed, "seconds": plan.seconds}
    found = ask({"do": "search", **job})
    identity = found["identity"]
    keys = {each["key"]: tuple(each["choices"]) for each in found["keys"]}
    if not any(len(choices) > 1 for choices in keys.values()):
        return TunedCall(call, identity, keys, {}, None, ())
    study = database.study(
        {
            "kernel": "operator",
            "function": str(call),
            "vendor": vendor,
            "device": identity,
            "call": call.as_json(),
        }
    )
    before = database.claimed(study)
    correct = [trial for trial in found["trials"] if trial["invalidity"] == "correct"]
    for trial in found["trials"]:
        database.record(study, _stored(trial))
    claimed, chosen = None, dict(found["best"])
    if not chosen:
        # Replace the claim of an earlier run.
        nothing = StoredClaim({}, Verdict.NO_WINNER.value, 1.0, 1.0, 1.0, found["noise"], ())
        database.claim(study, nothing)
    else:
        races = []
        for number in range(plan.processes):
            again = ask({**job, "do": "race", "table": chosen, "seed": plan.seed + 1 + number})
            if again["identity"] != identity:
                raise MeasurementError(
                    "[tune] the vendor or a library changed while it was measured"
                )
            races.append(_race(again))
        noise = Calibration(found["noise"], 1)
        claimed = claim(races, noise, seed=plan.seed)
        if (
            claimed.verdict is Verdict.FASTER
            and in_use >= BUSY
            and any(map(_has_one, chosen.values()))
        ):
            claimed = dataclasses.replace(claimed, verdict=Verdict.UNDER_LOAD)
        interval = claimed.interval
        ratios = tuple(each.ratios for each in races)
        database.claim(
            study,
            StoredClaim(
                chosen,
                claimed.verdict.value,
                interval.ratio,
                interval.low,
                interval.high,
                noise.noise,
                ratios,
            ),
        )
        if claimed.verdict is not Verdict.FASTER:
            chosen = {}
    database.unchoose(identity, keys)
    for key, choice in chosen.items():
        assert claimed is not None
        interval = claimed.interval
        database.choose(
            StoredChoice(
                identity, key, choice, str(call), interval.ratio, interval.low, interval.high
            )
        )
    refused = tuple(
        (trial["choice"], trial["message"])
        for trial in found["trials"]
        if trial["invalidity"] != "correct"
    )
    baselines = [second for trial in correct for second in trial["baseline"]]
    usual = sorted(baselines)[len(baselines) // 2] if baselines else 0.0
    return TunedCall(call, identity, keys, chosen, claimed, refused, usual, in_use, study, before)


def take_back(
    tuned: Sequence[TunedCall], earlier: Sequence[StoredChoice], database: Database
) -> None:
    """Discard the selections for calls, and restore earlier selections and claims.

    :param earlier: all earlier choices of the database.
    """
    for each in tuned:
        database.unchoose(each.identity, each.keys)
        restored = [c for c in earlier if c.identity == each.identity and c.key in each.keys]
        for choice in restored:
            database.choose(choice)
        if each.study is None:
            continue
        made = each.before if restored else database.claimed(each.study)
        if made is not None and not restored and made.verdict == Verdict.FASTER.value:
            made = dataclasses.replace(made, verdict=Verdict.TAKEN_BACK.value)
        if made is not None:
            database.claim(each.study, made)


def _has_one(choice: str) -> bool:
    """Return True if an implementation uses one thread where more are possible."""
    return choice.endswith("/1")


def _stored(trial: dict[str, Any]) -> StoredTrial:
    config = {"key": trial["key"], "choice": trial["choice"]}
    if trial["invalidity"] != "correct":
        return StoredTrial(config, trial["invalidity"], trial["message"])
    return StoredTrial(
        config,
        "correct",
        ratio=trial["ratio"],
        low=trial["low"],
        high=trial["high"],
        baseline=tuple(trial["baseline"]),
        candidate=tuple(trial["candidate"]),
    )


def _race(told: dict[str, Any]) -> Race:
    interval = Interval(told["ratio"], told["low"], told["high"])
    sides = tuple(told["baseline"]), tuple(told["candidate"])
    return Race(interval, tuple(told["ratios"]), *sides)
