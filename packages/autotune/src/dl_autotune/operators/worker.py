"""Race of the implementations of one call, in a separate process.

The job ``search`` races all choices, and ``race`` confirms the selected ones. The process uses no
tables of choices except those that it installs itself.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import torch

from diopi_proto.choices import ChoiceKey, ChoiceRecord, Choices
from dl_core.torch_backend.devices import synchronize
from dl_core.torch_backend.modes import autocompare
from dl_core.torch_backend.tuning import extension

from ..errors import MeasurementError, TuningError
from ..observers.calibration import Calibration
from ..observers.race import Race, RaceSettings, race
from .call import Call, build_arguments, function_of

_SHORTEST = 2e-4
"""Minimum duration of a timed run in seconds, so that the clock resolution does not matter."""
_LONGEST_RACE = 3.0


class Subject:
    """One call on a device, with its choices.

    :raises TuningError: the vendor has no choices to make, or the call fails.
    """

    def __init__(self, call: Call, vendor: str, seed: int) -> None:
        try:
            found = extension(vendor)
        except KeyError:
            raise TuningError(
                f"[tune] vendor {vendor} has no device here: dl doctor reports why"
            ) from None
        if found is None:
            raise TuningError(
                f"[tune] vendor {vendor} does not offer the choices extension (dl/choices.h), so "
                "there are no choices"
            )
        self.choices: Choices = found
        if call.threads is not None:
            torch.set_num_threads(call.threads)
        self._function = function_of(call.operator)
        self._args, self._kwargs = build_arguments(call, seed=seed)
        try:
            self.run()
            self.choices.record()
            self.run()
        except (RuntimeError, TypeError, ValueError) as error:
            raise TuningError(f"[tune] {call} fails: {error}") from error
        self.records = list(self.choices.recorded())
        self.choices.record(0)
        self.inner = 1
        self.inner = max(1, math.ceil(_SHORTEST / max(self.timed({})(), 1e-7)))

    def run(self) -> None:
        """Make the call."""
        with torch.no_grad():
            self._function(*self._args, **self._kwargs)
        synchronize()

    def timed(self, table: Mapping[ChoiceKey, str]) -> Callable[[], float]:
        """Return a function that makes the call with a table of choices and returns its seconds."""

        def once() -> float:
            self.choices.install(table)
            begin = time.perf_counter()
            for _ in range(self.inner):
                self.run()
            return (time.perf_counter() - begin) / self.inner

        return once

    def wrong(self, table: Mapping[ChoiceKey, str]) -> str:
        """Return the fault of the results with a table of choices; empty if they are right."""
        self.choices.install(table)
        try:
            with autocompare(".*") as report:
                self.run()
        except RuntimeError as error:
            return str(error).strip().partition("\n")[0]
        finally:
            self.choices.install({})
        return f"{report.wrong[0].operator} is off" if report.wrong else ""


def search(subject: Subject, settings: RaceSettings, seed: int, seconds: float) -> dict[str, Any]:
    """Race the choices of each key against the default; wrong choices are not timed."""
    usual = subject.timed({})
    noise = Calibration.of([race(usual, usual, settings, seed=seed)]).noise
    trials: list[dict[str, Any]] = []
    best: dict[str, str] = {}
    deadline = time.monotonic() + seconds
    for record in subject.records:
        fastest = 1.0 + noise
        for choice in record.choices if len(record.choices) > 1 else ():
            if time.monotonic() > deadline:
                break
            trial: dict[str, Any] = {"key": str(record.key), "choice": choice}
            trials.append(trial)
            table = {record.key: choice}
            if message := subject.wrong(table):
                trial |= {"invalidity": "correctness", "message": message}
                continue
            result = race(usual, subject.timed(table), settings, seed=seed)
            interval = result.interval
            trial |= {"invalidity": "correct", **_as_answer(result)}
            if interval.low > 1 + noise and interval.ratio > fastest:
                fastest, best[str(record.key)] = interval.ratio, choice
    keys = [_key(record) for record in subject.records]
    return {"trials": trials, "best": best, "noise": noise, "keys": keys}


def _key(record: ChoiceRecord) -> dict[str, Any]:
    return {"key": str(record.key), "choices": list(record.choices)}


def _as_answer(result: Race) -> dict[str, Any]:
    interval = result.interval
    return {
        "ratio": interval.ratio,
        "low": interval.low,
        "high": interval.high,
        "ratios": list(result.ratios),
        "baseline": list(result.baseline),
        "candidate": list(result.candidate),
    }


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Run a job."""
    seed = int(job["seed"])
    subject = Subject(Call.of_json(job["call"]), job["vendor"], seed)
    identity = subject.choices.identity()
    if job["do"] == "search":
        settings = RaceSettings(seconds=min(_LONGEST_RACE, job["seconds"] / 8), hopeless=0.9)
        return {"identity": identity, **search(subject, settings, seed, job["seconds"])}
    table = {ChoiceKey.parse(key): choice for key, choice in job["table"].items()}
    if message := subject.wrong(table):
        raise MeasurementError(
            f"[tune] the selected choices give a wrong result when the call runs again: {message}"
        )
    result = race(
        subject.timed({}), subject.timed(table), RaceSettings(seconds=_LONGEST_RACE), seed=seed
    )
    return {"identity": identity, **_as_answer(result)}
