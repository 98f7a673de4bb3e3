"""Processes of this machine as /proc lists them: parents, descendants, memory, waiting times."""

from __future__ import annotations

import contextlib
import os
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Process:
    """One process.

    :ivar resident: bytes of memory that the process has touched; shared pages count fully.
    """

    pid: int
    parent: int
    group: int
    session: int
    threads: int
    resident: int


def processes() -> list[Process]:
    """Return all processes, in any order."""
    found = []
    for folder in os.scandir("/proc"):
        if not folder.name.isdecimal():
            continue
        try:
            text = Path(folder.path, "stat").read_text(errors="replace")
        except OSError:
            continue  # the process has ended meanwhile
        # The name may contain any character; it is in the last pair of parentheses.
        fields = text.rpartition(")")[2].split()
        parent, group, session, threads, pages = (int(fields[at]) for at in (1, 2, 3, 17, 21))
        found.append(Process(int(folder.name), parent, group, session, threads, pages * _PAGE))
    return found


def below(pid: int) -> list[Process]:
    """Return all descendants of a process."""
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
    """Return the bytes of memory that a process has touched; shared pages count proportionally."""
    try:
        text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    except OSError:
        return 0  # the process has ended meanwhile
    found = re.search(r"^Pss:\s+(\d+) kB$", text, re.MULTILINE)
    return int(found[1]) << 10 if found else process.resident


def waiting_times(pid: int) -> dict[str, float]:
    """Return the seconds that each thread of a process was ready to run, but had no processor.

    Empty if the process has ended, or if the kernel does not count them.
    """
    found = {}
    with contextlib.suppress(OSError):
        for folder in os.scandir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):  # the thread has ended meanwhile
                text = Path(folder.path, "schedstat").read_text()
                found[folder.name] = int(text.split()[1]) / 1e9
    return found
