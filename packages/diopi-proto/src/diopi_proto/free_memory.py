"""Memory that is available to this process without swapping."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def free_memory(proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the bytes available without swapping; control groups may allow less than the
    machine.
    """
    return min(_of_machine(proc), *_of_groups(proc, groups))


def _of_machine(proc: Path) -> int:
    facts = _numbers(proc / "meminfo")
    return 1024 * facts.get("MemAvailable:", facts.get("MemFree:", 1 << 20))


def _of_groups(proc: Path, root: Path) -> Iterator[int]:
    """Yield the bytes that each control group still allows this process; a large number if
    unlimited.
    """
    yield 1 << 62
    for line in _lines(proc / "self" / "cgroup"):
        _, _, rest = line.partition(":")
        kinds, _, place = rest.partition(":")
        # cgroup v2 has one hierarchy, and lists no controllers here.
        if kinds and "memory" not in kinds.split(","):
            continue
        top = root / "memory" if kinds else root
        names = ("limit_in_bytes", "usage_in_bytes") if kinds else ("max", "current")
        group = top / place.lstrip("/")
        while True:
            most, used = (_number(group / f"memory.{name}") for name in names)
            if most is not None and used is not None:
                # The kernel drops the page cache if memory is needed.
                cached = _numbers(group / "memory.stat").get("inactive_file", 0)
                yield max(most - used + cached, 0)
            if group in (top, group.parent):
                break
            group = group.parent


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []


def _numbers(path: Path) -> dict[str, int]:
    parts = (line.split() for line in _lines(path))
    return {x[0]: int(x[1]) for x in parts if len(x) > 1 and x[1].isdigit()}


def _number(path: Path) -> int | None:
    text = "".join(_lines(path))
    return int(text) if text.isdigit() else None
