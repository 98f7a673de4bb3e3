"""Layers of C++ code: a file includes nothing of a layer above its own.

``csrc/layers.yaml`` of a package lists its layers, from the lowest to the highest. A layer is a
folder, or a pattern of folders, with the layers that it may include; or a mapping of ``files``,
patterns of names with or without suffix, and ``includes``.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

PACKAGES = Path(__file__).parents[2] / "packages"
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
SUFFIXES = {".c", ".cpp", ".h", ".hpp", ".inc"}

Edge = tuple[str, str]


@dataclass
class Layers:
    """The layers of the folders of one package.

    :ivar folders: folders in which includes are looked up; names of files are relative to them.
    :ivar entries: the content of layers.yaml.
    :ivar ignored: files that a build has copied there from other packages.
    """

    folders: list[Path]
    entries: dict[str, Any]
    ignored: set[Path] = field(default_factory=set)
    layers: dict[str, str | None] = field(default_factory=dict)

    def files(self) -> dict[str, Path]:
        """Return the sources by name."""
        return {
            path.relative_to(folder).as_posix(): path
            for folder in self.folders
            for path in sorted(folder.rglob("*.*"))
            if path.suffix in SUFFIXES and path not in self.ignored
        }

    def layer_of(self, file: str) -> str | None:
        """Return the entry of a file; None if it has none."""
        if file not in self.layers:
            self.layers[file] = next((e for e in self.entries if self._contains(e, file)), None)
        return self.layers[file]

    def _contains(self, entry: str, file: str) -> bool:
        content = self.entries[entry]
        if not isinstance(content, dict):
            return fnmatch.fnmatchcase(file.rpartition("/")[0], entry)
        names = (file, str(PurePosixPath(file).with_suffix("")))
        return any(fnmatch.fnmatchcase(x, pattern) for x in names for pattern in content["files"])

    def included(self, entry: str) -> list[str]:
        """Return the layers that one may include."""
        content = self.entries[entry]
        found: list[str] = content["includes"] if isinstance(content, dict) else content
        return found

    def edges(self) -> dict[Edge, list[str]]:
        """Return the edges between layers, each with the files that include across it."""
        files, edges = self.files(), dict[Edge, list[str]]()
        for file, path in files.items():
            for name in INCLUDE.findall(path.read_text()):
                relative = posixpath.normpath(f"{posixpath.dirname(file)}/{name}".lstrip("/"))
                target = relative if relative in files else name
                edge = (self._node(file), self._node(target))
                if target in files and edge[0] != edge[1]:
                    edges.setdefault(edge, []).append(file)
        return edges

    def _node(self, file: str) -> str:
        """Return the layer; for an entry that is a pattern of folders, the folder."""
        entry = self.layer_of(file)
        named = entry is not None and isinstance(self.entries[entry], dict)
        return str(entry) if named else file.rpartition("/")[0]

    def entry_of(self, node: str) -> str | None:
        """Return the entry of layers.yaml for a node of an edge."""
        return next((name for name in self.entries if fnmatch.fnmatchcase(node, name)), None)

    def is_allowed(self, edge: Edge) -> bool:
        layer, included = map(self.entry_of, edge)
        return layer is not None and included is not None and included in self.included(layer)


def read(path: Path) -> Layers:
    folders = [path.parent, path.parents[1] / "include"]
    command = ["git", "ls-files", "--others", "--ignored", "--exclude-standard", *map(str, folders)]
    found = subprocess.run(command, capture_output=True, text=True, cwd=PACKAGES, check=True)
    ignored = {PACKAGES / line for line in found.stdout.splitlines()}
    entries = yaml.safe_load(path.read_text())
    return Layers([x for x in folders if x.is_dir()], entries, ignored)


ALL = {path.parts[-3]: read(path) for path in sorted(PACKAGES.glob("*/csrc/layers.yaml"))}
EDGES = {
    (name, edge): files
    for name, layers in ALL.items()
    for edge, files in sorted(layers.edges().items())
}


def test_packages_with_several_layers_list_them() -> None:
    assert set(ALL) == {"core", "diopi-proto", "gpu-sim", "graph"}


@pytest.mark.parametrize("package", ALL)
def test_every_file_is_in_a_layer(package: str) -> None:
    layers = ALL[package]
    unlisted = [file for file in layers.files() if layers.layer_of(file) is None]
    assert not unlisted, f"layers.yaml of {package} has no entry for {unlisted}"


@pytest.mark.parametrize(
    ("package", "edge"), EDGES, ids=[f"{name}: {' includes '.join(edge)}" for name, edge in EDGES]
)
def test_no_layer_includes_one_above_it(package: str, edge: Edge) -> None:
    files = ", ".join(EDGES[package, edge])
    assert ALL[package].is_allowed(edge), (
        f"{files}: {edge[0]} may not include {edge[1]} (packages/{package}/csrc/layers.yaml)"
    )


@pytest.mark.parametrize("package", ALL)
def test_layers_are_listed_from_the_lowest_up(package: str) -> None:
    """This order rules out include cycles."""
    names = list(ALL[package].entries)
    for number, layer in enumerate(names):
        above = set(ALL[package].included(layer)) - set(names[:number])
        assert not above, f"{layer} includes {above}, which are not listed before it"


def test_an_upward_include_is_found(tmp_path: Path) -> None:
    write(tmp_path, {"runtime/device.cpp": "aten/plans/plan.h", "aten/plans/plan.h": "", "x.h": ""})
    layers = Layers([tmp_path], ALL["core"].entries)
    (edge,) = layers.edges()
    assert edge == ("runtime", "aten/plans") and not layers.is_allowed(edge)


def test_layers_of_one_folder_are_distinguished_by_their_files(tmp_path: Path) -> None:
    write(tmp_path, {"json.cpp": "model.h", "model.h": "json.h", "json.h": "", "new.h": ""})
    low, high = {"files": ["json"], "includes": []}, {"files": ["*.h"], "includes": ["low"]}
    layers = Layers([tmp_path], {"low": low, "high": high})
    assert {edge: layers.is_allowed(edge) for edge in layers.edges()} == {
        ("low", "high"): False,
        ("high", "low"): True,
    }


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files, each of which includes another file."""
    for file, included in files.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#include "{included}"\n' if included else "")
