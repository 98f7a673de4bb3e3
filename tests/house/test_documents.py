"""The pages that name parts of the house name all of them, and none that is gone."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = {path.parent for path in ROOT.glob("packages/*/pyproject.toml")}


def project_name(folder: Path) -> str:
    found = re.search(r'^name = "([^"]+)"', (folder / "pyproject.toml").read_text(), re.MULTILINE)
    assert found is not None, folder
    return found[1]


def test_the_readme_lists_every_package_with_its_wheel() -> None:
    rows = re.findall(
        r"^\| \[`(packages/[\w-]+)`\]\(\1\) \| ([\w-]+) \|",
        (ROOT / "README.md").read_text(),
        re.MULTILINE,
    )
    here = {(path.relative_to(ROOT).as_posix(), project_name(path)) for path in PACKAGES}
    assert set(rows) == here


def test_the_map_names_folders_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    drawn = re.search(r"## The map of the house\n\n```\n(.*?)```", text, re.DOTALL)
    assert drawn is not None
    for line in drawn[1].splitlines():
        inside = "packages/core/" if line.startswith("  ") else ""
        for name in re.split(r"\s{2,}", line.strip())[0].replace(",", " ").split():
            pattern = re.sub(r"<\w+>", "*", name)
            places = [ROOT.glob(inside + pattern), ROOT.glob(f"tests/{pattern}")]
            places.append(ROOT.glob(f"packages/core/csrc/{pattern}"))
            assert any(any(place) for place in places), f"the map names {name}, which is not there"


def test_every_room_is_on_the_map() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rooms = [path for path in (ROOT / "packages/core/csrc").iterdir() if path.is_dir()]
    missing = [room.name for room in rooms if not re.search(rf"\b{room.name}\b", text)]
    assert not missing
