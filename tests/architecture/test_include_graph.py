"""Layers of core's C++: a file includes nothing of a layer above its own."""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path

import pytest
import yaml

SOURCES = Path(__file__).parents[2] / "packages" / "core" / "csrc"
LAYERS: dict[str, list[str]] = yaml.safe_load((SOURCES / "layers.yaml").read_text())
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)

Edge = tuple[str, str]


def layer_of(path: str) -> str:
    return path.rpartition("/")[0]


def entry_of(layer: str) -> str | None:
    """Return the entry of layers.yaml for a layer: its name, or a pattern."""
    return next((name for name in LAYERS if fnmatch.fnmatchcase(layer, name)), None)


def includes(folder: Path = SOURCES) -> dict[Edge, list[str]]:
    """Return the edges between layers, each with the files that include across it."""
    edges: dict[Edge, list[str]] = {}
    for path in sorted([*folder.rglob("*.cpp"), *folder.rglob("*.h")]):
        file = path.relative_to(folder).as_posix()
        for included in INCLUDE.findall(path.read_text()):
            if (folder / included).exists() and layer_of(file) != layer_of(included):
                edges.setdefault((layer_of(file), layer_of(included)), []).append(file)
    return edges


def is_allowed(edge: Edge) -> bool:
    layer, included = map(entry_of, edge)
    return layer is not None and included is not None and included in LAYERS[layer]


def test_every_file_is_in_a_layer() -> None:
    files = [path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.*")]
    unlisted = [f for f in files if f != "layers.yaml" and entry_of(layer_of(f)) is None]
    assert not unlisted, f"layers.yaml has no entry for {unlisted}"


@pytest.mark.parametrize("edge", sorted(includes()), ids=" includes ".join)
def test_no_layer_includes_one_above_it(edge: Edge) -> None:
    files = ", ".join(includes()[edge])
    assert is_allowed(edge), f"{files}: {edge[0]} may not include {edge[1]} (csrc/layers.yaml)"


def test_layers_are_listed_from_the_lowest_up() -> None:
    """This order rules out include cycles."""
    names = list(LAYERS)
    for number, (layer, included) in enumerate(LAYERS.items()):
        assert set(included) <= set(names[:number]), f"{layer} includes a layer listed after it"


def test_an_upward_include_is_found(tmp_path: Path) -> None:
    for file, text in (("runtime/device.cpp", '#include "aten/plans/plan.h"\n'), ("x.h", "")):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    (tmp_path / "aten/plans").mkdir(parents=True)
    (tmp_path / "aten/plans/plan.h").write_text("")
    (edge,) = includes(tmp_path)
    assert edge == ("runtime", "aten/plans") and not is_allowed(edge)
