"""Agreement of a job's ranks on measured choices, even if each rank reads another database.

The ranks exchange two messages over the group's store: the tables they have, and whether they have
installed the agreed ones. After each exchange, one answer is written, and only once: by rank 0 when
all ranks have sent their messages, or by any rank after a timeout, in which case no rank uses any
choices. So ranks never disagree, and none waits forever for a rank that does not take part.
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

from dl_core.errors import describe_error
from dl_core.tuned_choices import Layers

_log = logging.getLogger("dl_core.tuning")
Said = dict[str, Any]
"""A message of a rank, or the answer to all ranks. The key ``obstacle`` has the reason why no rank
uses choices."""


class Store(Protocol):
    """The part of ``torch.distributed.Store`` that this module uses."""

    def set(self, key: str, value: str, /) -> None: ...
    def get(self, key: str, /) -> bytes: ...
    def wait(self, keys: list[str], timeout: timedelta, /) -> None: ...
    def check(self, keys: list[str], /) -> bool: ...
    def compare_set(self, key: str, expected: str, desired: str, /) -> bytes: ...


class Tables(Protocol):
    """Source and destination of a rank's choices: the module :mod:`.tuning`."""

    def wanted(self) -> bool: ...
    def own_tables(self) -> Mapping[str, Layers]: ...
    def take(self, tables: Mapping[str, Layers]) -> Mapping[str, Layers]: ...


@dataclass(frozen=True)
class Place:
    """The rank and its group.

    :ivar timeout: how long rank 0 waits for the other ranks. They wait twice as long for rank 0,
        because it may have arrived last.
    """

    store: Store
    rank: int
    size: int
    timeout: timedelta


@dataclass(frozen=True)
class Agreement:
    """Result of the agreement.

    :ivar ranks: for the identity of each device of the job, the rank whose choices are used.

    :ivar entries: number of choices that this rank uses.
    :ivar digest: digest of the choices; ranks with equal devices have the same digest.
    :ivar obstacle: why no rank uses any choices; empty if they agreed.
    """

    ranks: Mapping[str, int] = field(default_factory=dict)
    entries: int = 0
    digest: str = ""
    obstacle: str = ""


class _ObstacleError(Exception):
    """No rank can use choices; the message says why."""


def agree(place: Place, key: str, tables: Tables) -> Agreement:
    """Use the same choices as the other ranks from now on. All ranks must call it; an error in one
    of them is an obstacle for all, and is not raised.

    For each device, the choices of the lowest rank that has any are used.

    :param key: key in the store, unique for each agreement.
    """
    try:
        chosen = _answer(place, f"{key}/tables", lambda: _own_choices(tables), _choose)
        agreed = {identity: Layers(**table) for identity, table in chosen["tables"].items()}
        if not agreed:
            tables.take({})
            return Agreement()
        taken = _answer(place, f"{key}/taken", lambda: _take(tables, agreed), _check)
    except Exception as error:  # noqa: BLE001 - the store is closed, or a vendor's library fails
        with contextlib.suppress(Exception):
            tables.take({})
        _log.warning("no rank uses tuned choices: %s", _reason(error))
        return Agreement(obstacle=_reason(error))
    if place.rank == 0:
        _log_result(chosen["ranks"], agreed, taken["holders"])
    mine = [identity for identity, ranks in taken["holders"].items() if place.rank in ranks]
    held = {identity: agreed[identity] for identity in mine if identity in agreed}
    entries = sum(len(table.choices) for table in held.values())
    return Agreement(chosen["ranks"], entries, _digest(held))


def _answer(
    place: Place, key: str, say: Callable[[], Said], judge: Callable[[Sequence[Said]], Said]
) -> Said:
    """Return the answer to all ranks after each has sent its message.

    :param say: function that returns the message of this rank; an exception becomes an obstacle.
    :param judge: function that computes the answer from the messages of all ranks.
    :raises _ObstacleError: a rank has an obstacle, or is missing.
    """
    try:
        said = say()
    except Exception as error:  # noqa: BLE001 - the other ranks must get any error
        said = {"obstacle": f"rank {place.rank}: {_reason(error)}"}
    store = place.store
    store.set(f"{key}/{place.rank}", json.dumps(said))
    answer = _collect(place, key, judge) if place.rank == 0 else _wait_for_answer(place, key)
    # The first writer determines the answer.
    written = store.compare_set(f"{key}/answer", "", json.dumps(answer))
    decided: Said = json.loads(written)
    if decided.get("obstacle"):
        raise _ObstacleError(decided["obstacle"])
    return decided


def _collect(place: Place, key: str, judge: Callable[[Sequence[Said]], Said]) -> Said:
    keys = [f"{key}/{rank}" for rank in range(place.size)]
    try:
        place.store.wait(keys, place.timeout)
    except RuntimeError:
        missing = [rank for rank, key in enumerate(keys) if not place.store.check([key])]
        seconds = place.timeout.total_seconds()
        return {"obstacle": f"{_format_ranks(missing)} did not take part within {seconds:g} s"}
    said = [json.loads(place.store.get(key)) for key in keys]
    obstacles = [each["obstacle"] for each in said if "obstacle" in each]
    return {"obstacle": "; ".join(obstacles)} if obstacles else judge(said)


def _wait_for_answer(place: Place, key: str) -> Said:
    limit = 2 * place.timeout
    try:
        place.store.wait([f"{key}/answer"], limit)
    except RuntimeError:
        seconds = limit.total_seconds()
        return {"obstacle": f"rank 0 did not answer rank {place.rank} within {seconds:g} s"}
    return {}


def _own_choices(tables: Tables) -> Said:
    """Return the choices that this rank would use if it were alone."""
    if not tables.wanted():
        return {"off": True}
    own = tables.own_tables()
    unreadable = {line for table in own.values() for line in table.unreadable}
    if unreadable:
        raise _ObstacleError("; ".join(sorted(unreadable)))
    return {"tables": {name: asdict(table) for name, table in own.items() if table.choices}}


def _choose(said: Sequence[Said]) -> Said:
    """Return the choices of the lowest rank that has any, for each device."""
    off = [rank for rank, each in enumerate(said) if each.get("off")]
    if off and len(off) < len(said):
        return {
            "obstacle": f"{_format_ranks(off)} disables them (DL_TUNING=off), but others do not"
        }
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


def _check(said: Sequence[Said]) -> Said:
    """Return the ranks of each device if all ranks with equal devices have the same choices."""
    holders: dict[str, list[int]] = {}
    for rank, each in enumerate(said):
        for identity, digest in each["digests"].items():
            first, *_ = holders.setdefault(identity, []) or [rank]
            if said[first]["digests"][identity] != digest:
                return {
                    "obstacle": f"{_format_ranks([first, rank])} have different choices for "
                    f"{identity}"
                }
            holders[identity].append(rank)
    return {"holders": holders}


def _log_result(
    deciders: Mapping[str, int], agreed: Mapping[str, Layers], holders: Mapping[str, list[int]]
) -> None:
    lines = []
    for identity, ranks in holders.items():
        what = "no tuned choices"
        if identity in agreed:
            digest = _digest({identity: agreed[identity]})
            what = f"{len(agreed[identity].choices)} of rank {deciders[identity]} ({digest})"
        lines.append(f"{_format_ranks(ranks)}: {what}, on {identity}")
    if len(lines) > 1:
        _log.warning("devices differ, and so do tuned choices. %s", ". ".join(lines))
    else:
        _log.info("tuned choices: %s", ". ".join(lines))


def _digest(tables: Mapping[str, Layers]) -> str:
    choices = {identity: table.choices for identity, table in tables.items()}
    return hashlib.sha256(json.dumps(choices, sort_keys=True).encode()).hexdigest()[:12]


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, _ObstacleError) else describe_error(error)


def _format_ranks(ranks: Sequence[int]) -> str:
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"
