"""Counts of a program's operators for ``dl coverage --program``.

The command starts the program with :data:`dl_core.startup.COUNTS_FOLDER`. Each of the program's
processes that starts the dl device creates a file in this folder, and writes its counts to the file
when it ends.
"""

from __future__ import annotations

import atexit
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diopi_proto.foreign_file import read_regular_json

_LARGEST = 1 << 26
"""Maximum size of a file in bytes."""


def begin(folder: str) -> None:
    """Count and time the operators of this process, and write the counts at its end.

    Counts include calls before ``torch.dl.reset_fallback_stats()``. A folder that no longer exists
    is ignored: the process may outlive the command.
    """
    from dl_core import _C

    try:
        descriptor, path = tempfile.mkstemp(".json", dir=folder)
    except OSError:
        return
    os.close(descriptor)
    _C.profile_operators(True)
    atexit.register(_write, path, os.getpid())


def _write(path: str, process: int) -> None:
    from dl_core import _C

    if os.getpid() != process:
        return  # A forked child has the counts of its parent.
    native, composed = _C.call_totals(since_start=True)
    counts = {"native": native, "composed": composed, "reasons": _C.fallback_reasons()}
    with suppress(OSError):
        Path(path).write_text(json.dumps(counts), encoding="utf-8")


VENDORS_PART = ("declined", "absent", "mismatched")
"""Causes that a vendor can remove by implementing an operator, or further cases of an operator."""


@dataclass(frozen=True)
class Fallbacks:
    """Calls of one overload that ran on the CPU for one reason."""

    overload: str
    cause: str
    operator: str
    """Operator of the contract; empty if none is involved."""
    text: str
    count: int
    nanoseconds: int

    @property
    def is_vendors_part(self) -> bool:
        """Return True if the vendor could avoid the fallbacks by implementing an operator."""
        return self.cause in VENDORS_PART and bool(self.operator)


@dataclass
class ProgramCounts:
    """Counts of all processes of a program."""

    native: int = 0
    processes: int = 0
    """Number of processes that started the dl device and reported their counts."""
    lost: int = 0
    """Number of processes that started the dl device and ended before they could report."""
    fallbacks: list[Fallbacks] = field(default_factory=list)

    @property
    def on_cpu(self) -> int:
        return sum(x.count for x in self.fallbacks)

    @property
    def nanoseconds(self) -> int:
        return sum(x.nanoseconds for x in self.fallbacks)


def read_counts(folder: Path) -> ProgramCounts:
    """Add up the files of a folder. The program may have damaged some, whose counts are lost."""
    total = ProgramCounts()
    sums: dict[tuple[str, str, str, str], list[int]] = {}
    for file in sorted(folder.glob("*.json")):
        try:
            found = read_regular_json(file, _LARGEST)
            native, rows = int(found["native"]), [_row(x) for x in found["reasons"]]
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            total.lost += 1
            continue
        total.processes += 1
        total.native += native
        for key, count, nanoseconds in rows:
            entry = sums.setdefault(key, [0, 0])
            entry[0] += count
            entry[1] += nanoseconds
    total.fallbacks = [Fallbacks(*key, *entry) for key, entry in sums.items() if entry[0]]
    return total


def _row(found: Mapping[str, Any]) -> tuple[tuple[str, str, str, str], int, int]:
    key = (found["overload"], found["cause"], found["operator"], found["text"])
    if not all(isinstance(x, str) for x in key):
        raise TypeError("not a text")
    return key, int(found["total_count"]), int(found["total_nanoseconds"])


@dataclass(frozen=True)
class Candidate:
    """An operator of the contract whose implementation would avoid fallbacks."""

    operator: str
    fallbacks: tuple[Fallbacks, ...]
    """The costliest one first."""

    @property
    def count(self) -> int:
        return sum(x.count for x in self.fallbacks)

    @property
    def nanoseconds(self) -> int:
        return sum(x.nanoseconds for x in self.fallbacks)

    @property
    def overloads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(x.overload for x in self.fallbacks))

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(x.text for x in self.fallbacks))


def _cost(item: Fallbacks | Candidate) -> tuple[int, int]:
    return -item.nanoseconds, -item.count


def candidates(fallbacks: Iterable[Fallbacks]) -> list[Candidate]:
    """Return what the vendor could implement, sorted by the time that the fallbacks took."""
    groups: dict[str, list[Fallbacks]] = {}
    for each in fallbacks:
        if each.is_vendors_part:
            groups.setdefault(each.operator, []).append(each)
    made = [Candidate(name, tuple(sorted(all_, key=_cost))) for name, all_ in groups.items()]
    return sorted(made, key=lambda x: (*_cost(x), x.operator))


def others(fallbacks: Iterable[Fallbacks]) -> list[Fallbacks]:
    """Return the fallbacks that the vendor cannot avoid with an operator, sorted by their time."""
    found = (x for x in fallbacks if not x.is_vendors_part)
    return sorted(found, key=lambda x: (*_cost(x), x.overload))
