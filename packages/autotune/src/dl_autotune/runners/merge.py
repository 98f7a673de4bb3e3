"""Merging of databases, such as those of several machines with devices of one type."""

from __future__ import annotations

from dataclasses import dataclass

from ..observers.claim import Verdict
from .database import Database, StoredClaim, StoredTrial, Study


@dataclass(frozen=True)
class Merged:
    """Numbers of the rows that a merge has added or replaced."""

    studies: int = 0
    trials: int = 0
    claims: int = 0
    choices: int = 0


def merge(source: Database, into: Database) -> Merged:
    """Add the studies and choices of a database to another one in one transaction.

    A study with the same identity gets the configurations that it lacks; its own trials stay. Of
    two claims, or of two choices for one call, the one with the higher lower bound of its interval
    stays. What the target has taken back stays so.

    :raises DatabaseError: a database cannot be read, or the target cannot be written.
    """
    with into.transaction():
        known = {study.key for study in into.studies()}
        studies = trials = claims = 0
        taken_back: set[tuple[object, object]] = set()
        for study in source.studies():
            target = into.study(study.identity)
            studies += target.key not in known
            trials += _add_trials(source.trials(study), target, into)
            for transfer in source.transfers(study) if target.key not in known else ():
                into.record_transfer(target, transfer)
            ours, theirs = into.claimed(target), source.claimed(study)
            if ours is not None and ours.verdict == Verdict.TAKEN_BACK.value:
                taken_back.add((study.identity.get("device"), study.identity.get("function")))
            elif theirs is not None and (ours is None or _is_better(theirs, ours)):
                into.claim(target, theirs)
                claims += 1
        return Merged(studies, trials, claims, _add_choices(source, into, taken_back))


def _add_trials(trials: list[StoredTrial], target: Study, into: Database) -> int:
    """Store the trials of configurations that a study does not have; return their number."""
    present = [dict(trial.config) for trial in into.trials(target)]
    known = {frozenset(config.items()) for config in present}
    new = [trial for trial in trials if frozenset(trial.config.items()) not in known]
    for trial in new:
        into.record(target, trial)
    return len(new)


def _is_better(theirs: StoredClaim, ours: StoredClaim) -> bool:
    faster = Verdict.FASTER.value
    if theirs.verdict != faster:
        return False
    return ours.verdict != faster or theirs.low > ours.low


def _add_choices(source: Database, into: Database, taken_back: set[tuple[object, object]]) -> int:
    ours = {(each.identity, each.key): each for each in into.choices()}
    count = 0
    for each in source.choices():
        present = ours.get((each.identity, each.key))
        if (each.identity, each.operator) in taken_back:
            continue
        if present is None or each.low > present.low:
            into.choose(each)
            count += 1
    return count
