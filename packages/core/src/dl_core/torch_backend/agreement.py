"""Ranks of a job use the same measured choices, whatever database each of them sees.

Two questions go around over the group's store: which tables there are, and whether every rank has
taken them. The answer to a question is written once and for all: by rank 0 when it has heard all,
or by a rank that has waited long enough, and then it is that nobody uses any. So ranks never
disagree about it, and none waits for good for one that does not ask.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from dl_core.errors import said_by
from dl_core.tuned_choices import Layers

_log = logging.getLogger("dl_core.tuning")
Said = dict[str, Any]
"""What a rank says, or what is said to all. The text ``obstacle`` is why nobody uses choices."""


class Store(Protocol):
    """What is used of ``torch.distributed.Store``."""

    def set(self, key: str, value: str, /) -> None: ...
    def get(self, key: str, /) -> bytes: ...
    def wait(self, keys: list[str], timeout: timedelta, /) -> None: ...
    def check(self, keys: list[str], /) -> bool: ...
    def compare_set(self, key: str, expected: str, desired: str, /) -> bytes: ...


class Tables(Protocol):
    """Where a rank's choices come from and go to: :mod:`.tuning`."""

    def wanted(self) -> bool: ...
    def own_tables(self) -> Mapping[str, Layers]: ...
    def take(self, tables: Mapping[str, Layers]) -> Mapping[str, Layers]: ...


@dataclass(frozen=True)
class Place:
    """Where a rank stands.

    :ivar timeout: how long rank 0 waits for the others; they wait twice as long for it, because it
        may have come last.
    """

    store: Store
    rank: int
    size: int
    timeout: timedelta


@dataclass(frozen=True)
class Agreement:
    """What the ranks of a job have agreed on.

    :ivar ranks: whose choices are used, by the identity of the device; of all devices of the job.
    :ivar entries: how many choices this rank uses.
    :ivar digest: of them; ranks with equal devices have the same one.
    :ivar obstacle: why no rank uses any; empty if nothing was in the way.
    """

    ranks: Mapping[str, int] = field(default_factory=dict)
    entries: int = 0
    digest: str = ""
    obstacle: str = ""


class _ObstacleError(Exception):
    """Nobody uses choices; the message says why."""


def agree(place: Place, key: str, tables: Tables) -> Agreement:
    """Use the same choices as the other ranks from now on. All of them have to call it; an error
    of any of them is an obstacle to all, and raises nothing.

    For each device, the first rank that has any choices for it decides.

    :param key: in the store; no other agreement has the same one.
    """
    try:
        chosen = _answer(place, f"{key}/tables", lambda: _own(tables), _chosen)
        agreed = {identity: Layers(**table) for identity, table in chosen["tables"].items()}
        if not agreed:
            tables.take({})
            return Agreement()
        taken = _answer(place, f"{key}/taken", lambda: _take(tables, agreed), _checked)
    except Exception as error:  # noqa: BLE001 - the store is gone, or a vendor's library fails
        with contextlib.suppress(Exception):
            tables.take({})
        _log.warning("no rank uses tuned choices: %s", _reason(error))
        return Agreement(obstacle=_reason(error))
    if place.rank == 0:
        _tell(chosen["ranks"], agreed, taken["holders"])
    mine = [identity for identity, ranks in taken["holders"].items() if place.rank in ranks]
    held = {identity: agreed[identity] for identity in mine if identity in agreed}
    entries = sum(len(table.choices) for table in held.values())
    return Agreement(chosen["ranks"], entries, _digest(held))


def _answer(
    place: Place, key: str, say: Callable[[], Said], judge: Callable[[Sequence[Said]], Said]
) -> Said:
    """What is said to all once each has said something.

    :param say: what this rank says; what it raises is an obstacle.
    :param judge: makes the answer of what all ranks have said.
    :raises _ObstacleError: a rank has one, or is missing.
    """
    try:
        said = say()
    except Exception as error:  # noqa: BLE001 - the others have to hear of anything
        said = {"obstacle": f"rank {place.rank}: {_reason(error)}"}
    store = place.store
    store.set(f"{key}/{place.rank}", json.dumps(said))
    answer = _heard(place, key, judge) if place.rank == 0 else _waited(place, key)
    # Whoever writes first has decided.
    written = store.compare_set(f"{key}/answer", "", json.dumps(answer))
    decided: Said = json.loads(written)
    if decided.get("obstacle"):
        raise _ObstacleError(decided["obstacle"])
    return decided


def _heard(place: Place, key: str, judge: Callable[[Sequence[Said]], Said]) -> Said:
    keys = [f"{key}/{rank}" for rank in range(place.size)]
    try:
        place.store.wait(keys, place.timeout)
    except RuntimeError:
        missing = [rank for rank, key in enumerate(keys) if not place.store.check([key])]
        seconds = place.timeout.total_seconds()
        return {"obstacle": f"{_named(missing)} did not ask for them within {seconds:g} s"}
    said = [json.loads(place.store.get(key)) for key in keys]
    obstacles = [each["obstacle"] for each in said if "obstacle" in each]
    return {"obstacle": "; ".join(obstacles)} if obstacles else judge(said)


def _waited(place: Place, key: str) -> Said:
    limit = 2 * place.timeout
    try:
        place.store.wait([f"{key}/answer"], limit)
    except RuntimeError:
        seconds = limit.total_seconds()
        return {"obstacle": f"rank 0 did not answer rank {place.rank} within {seconds:g} s"}
    return {}


def _own(tables: Tables) -> Said:
    """What this rank would use alone."""
    if not tables.wanted():
        return {"off": True}
    own = tables.own_tables()
    unreadable = {line for table in own.values() for line in table.unreadable}
    if unreadable:
        raise _ObstacleError("; ".join(sorted(unreadable)))
    return {"tables": {name: asdict(table) for name, table in own.items() if table.choices}}


def _chosen(said: Sequence[Said]) -> Said:
    """For each device, what the first rank says that has anything for it."""
    off = [rank for rank, each in enumerate(said) if each.get("off")]
    if off and len(off) < len(said):
        return {"obstacle": f"{_named(off)} leaves them out (DL_TUNING=off), and not all do"}
    ranks: dict[str, int] = {}
    for rank, each in enumerate(said):
        for identity in each.get("tables", {}):
            ranks.setdefault(identity, rank)
    tables = {identity: said[rank]["tables"][identity] for identity, rank in ranks.items()}
    for identity, table in tables.items():
        origin = f"of_rank_{ranks[identity]}"
        table["origins"] = {f"{name}_{origin}": n for name, n in table["origins"].items()}
    return {"ranks": ranks, "tables": tables}


def _take(tables: Tables, agreed: Mapping[str, Layers]) -> Said:
    taken = tables.take(agreed)
    return {"digests": {name: _digest({name: table}) for name, table in taken.items()}}


def _checked(said: Sequence[Said]) -> Said:
    """Which ranks have which device, if all with equal devices hold the same."""
    holders: dict[str, list[int]] = {}
    for rank, each in enumerate(said):
        for identity, digest in each["digests"].items():
            first, *_ = holders.setdefault(identity, []) or [rank]
            if said[first]["digests"][identity] != digest:
                return {"obstacle": f"{_named([first, rank])} hold different ones: {identity}"}
            holders[identity].append(rank)
    return {"holders": holders}


def _tell(
    deciders: Mapping[str, int], agreed: Mapping[str, Layers], holders: Mapping[str, list[int]]
) -> None:
    lines = []
    for identity, ranks in holders.items():
        what = "no tuned choices"
        if identity in agreed:
            digest = _digest({identity: agreed[identity]})
            what = f"{len(agreed[identity].choices)} of rank {deciders[identity]} ({digest})"
        lines.append(f"{_named(ranks)}: {what}, on {identity}")
    if len(lines) > 1:
        _log.warning("devices differ, and so do tuned choices. %s", ". ".join(lines))
    else:
        _log.info("tuned choices: %s", ". ".join(lines))


def _digest(tables: Mapping[str, Layers]) -> str:
    choices = {identity: table.choices for identity, table in tables.items()}
    return hashlib.sha256(json.dumps(choices, sort_keys=True).encode()).hexdigest()[:12]


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, _ObstacleError) else said_by(error)


def _named(ranks: Sequence[int]) -> str:
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"
