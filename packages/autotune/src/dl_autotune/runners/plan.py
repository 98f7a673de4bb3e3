"""Plan and result of a tuning run."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..observers import Claim, RaceSettings
from ..spaces import Config
from ..strategies import DEFAULT, Budget
from .database import StoredTransfer, Study

_SEARCH_RACES = RaceSettings(looks=(4, 8), seconds=1.0, hopeless=0.8)
_FINAL_RACES = RaceSettings(looks=(16,), seconds=5.0)


@dataclass(frozen=True)
class Plan:
    """Plan of a tuning run.

    :ivar budget: budget of the search, without the final races.
    :ivar workers: number of parallel compilers.
    :ivar search_races: limits of each candidate's race, which is short, since it only selects.
    :ivar final_races: limits of the finalists' races, in processes that did not select them.
    :ivar final_processes: number of processes in which the winner is raced.
    :ivar evaluation_seconds: timeout of a candidate in seconds (``--limit``).
    :ivar transfer: begin with what earlier studies of the kernel found.
    """

    budget: Budget = field(default_factory=lambda: Budget(evaluations=60))
    strategy: str = DEFAULT
    workers: int = 2
    search_races: RaceSettings = _SEARCH_RACES
    final_races: RaceSettings = _FINAL_RACES
    final_processes: int = 5
    evaluation_seconds: float = 60.0
    transfer: bool = True


@dataclass(frozen=True)
class Tuned:
    """Result of a run.

    :ivar claim: claim for `config` against the kernel's default.
    :ivar evaluated: number of configurations of the study, over all runs.
    :ivar finalists: candidates that were raced again at the end.
    :ivar reused: the claim comes from an earlier run, and nothing was measured.
    :ivar transfers: what the search took from earlier studies.
    """

    study: Study
    config: Config
    claim: Claim
    evaluated: int
    finalists: int = 0
    reused: bool = False
    transfers: tuple[StoredTransfer, ...] = ()
