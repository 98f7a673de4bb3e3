"""Layers of core's C++: a file includes nothing of a layer above its own."""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path

import pytest
import yaml

SOURCES = Path(__file__).parents[2] / "packages" / "core" / "csrc"
ROOMS: dict[str, list[str]] = yaml.safe_load((SOURCES / "rooms.yaml").read_text())
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)

Edge = tuple[str, str]


def room_of(path: str) -> str:
    return path.rpartition("/")[0]


def named(room: str) -> str | None:
    """Return the entry of rooms.yaml for a layer: its name, or a pattern."""
    return next((name for name in ROOMS if fnmatch.fnmatchcase(room, name)), None)


def includes(folder: Path = SOURCES) -> dict[Edge, list[str]]:
    """The edges between rooms, with the files that make them."""
    edges: dict[Edge, list[str]] = {}
    for path in sorted([*folder.rglob("*.cpp"), *folder.rglob("*.h")]):
        file = path.relative_to(folder).as_posix()
        for included in INCLUDE.findall(path.read_text()):
            if (folder / included).exists() and room_of(file) != room_of(included):
                edges.setdefault((room_of(file), room_of(included)), []).append(file)
    return edges


def is_allowed(edge: Edge) -> bool:
    room, included = map(named, edge)
    return room is not None and included is not None and included in ROOMS[room]


def test_every_file_is_in_a_room() -> None:
    files = [path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.*")]
    strangers = [f for f in files if f != "rooms.yaml" and named(room_of(f)) is None]
    assert not strangers, f"rooms.yaml has no entry for {strangers}"


@pytest.mark.parametrize("edge", sorted(includes()), ids=" includes ".join)
def test_no_room_includes_one_above_it(edge: Edge) -> None:
    files = ", ".join(includes()[edge])
    assert is_allowed(edge), f"{files}: {edge[0]} may not include {edge[1]} (csrc/rooms.yaml)"


def test_rooms_are_listed_from_the_ground_up() -> None:
    """So that there is no circle."""
    names = list(ROOMS)
    for number, (room, included) in enumerate(ROOMS.items()):
        assert set(included) <= set(names[:number]), f"{room} includes what is listed below it"


def test_an_upward_include_is_found(tmp_path: Path) -> None:
    for file, text in (("runtime/device.cpp", '#include "aten/plans/plan.h"\n'), ("x.h", "")):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    (tmp_path / "aten/plans").mkdir(parents=True)
    (tmp_path / "aten/plans/plan.h").write_text("")
    (edge,) = includes(tmp_path)
    assert edge == ("runtime", "aten/plans") and not is_allowed(edge)
