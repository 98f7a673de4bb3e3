"""The wheel installs every header of the repository: a missing one would break vendors' builds."""

from __future__ import annotations

from pathlib import Path

from dl_kernels import include_dir

SOURCES = Path(__file__).parents[1] / "include"


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_every_header_is_installed() -> None:
    wanted = files(SOURCES)
    assert any(name.endswith(".inc") for name in wanted)
    assert wanted - files(include_dir()) == set()
