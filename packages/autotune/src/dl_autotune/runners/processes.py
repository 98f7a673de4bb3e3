"""The processes of this machine, as /proc tells them: who is below whom, and how large they are."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_GONE = "ZX"
"""States of what has ended and is not reaped yet."""


@dataclass(frozen=True)
class Process:
    """One process.

    :ivar resident: bytes of memory that it has touched; what it shares counts fully.
    :ivar ended: and not reaped yet.
    """

    pid: int
    parent: int
    group: int
    session: int
    threads: int
    resident: int
    ended: bool


def processes() -> list[Process]:
    """Return all processes, in no order."""
    found = []
    for folder in os.scandir("/proc"):
        if not folder.name.isdecimal():
            continue
        try:
            text = Path(folder.path, "stat").read_text(errors="replace")
        except OSError:
            continue  # it has ended meanwhile
        # The name, which may hold anything, is in the last pair of parentheses.
        state, *rest = text.rpartition(")")[2].split()
        parent, group, session, threads, pages = (int(rest[at]) for at in (0, 1, 2, 16, 20))
        found.append(
            Process(
                int(folder.name),
                parent,
                group,
                session,
                threads,
                pages * _PAGE,
                ended=state in _GONE,
            )
        )
    return found


def below(pid: int) -> list[Process]:
    """All that a process started, and they, and so on; not itself."""
    children = defaultdict(list)
    for each in processes():
        children[each.parent].append(each)
    found: list[Process] = []
    open_ = [pid]
    while open_:
        more = children.pop(open_.pop(), [])
        found += more
        open_ += [each.pid for each in more]
    return found


def proportional(process: Process) -> int:
    """Bytes of memory that a process has touched, of what it shares with others its part."""
    try:
        text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    except OSError:
        return 0  # it has ended meanwhile
    found = re.search(r"^Pss:\s+(\d+) kB$", text, re.MULTILINE)
    return int(found[1]) << 10 if found else process.resident
