"""Checks of a release, and the bump of versions: each problem is found, and a right one passes."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.request import urlopen

import pytest

from tools.projects import Project, in_build_order
from tools.release import declared, index, sdists, versions, wheels

METADATA = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "dl-example"
description = "An example"
readme = "README.md"
license = "Apache-2.0"
requires-python = ">=3.10"
classifiers = ["Development Status :: 3 - Alpha"]
dynamic = ["version"]

[tool.setuptools.packages.find]
where = ["src"]

[tool.setuptools.dynamic]
version = { attr = "dl_example._version.__version__" }
"""


def write_project(folder: Path, name: str = "dl-example", version: str = "0.1.0") -> Path:
    package = folder / "src" / name.replace("-", "_")
    package.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(
        METADATA.replace("dl-example", name).replace("dl_example", package.name)
    )
    (package / "__init__.py").write_text("")
    (package / "_version.py").write_text(f'"""The version."""\n\n__version__ = "{version}"\n')
    (folder / "README.md").write_text("# Example\n")
    (folder / "CHANGELOG.md").write_text(f"# Changelog\n\n## {version}\n\nFirst release.\n")
    for file in declared.LICENSE_FILES:
        (folder / file).write_text("text\n")
    return folder


def read(*folders: Path) -> list[declared.Declared]:
    return declared.declared([Project.read(folder, test_only=False) for folder in folders])


def test_the_repository_declares_what_a_release_needs() -> None:
    assert declared.problems(declared.declared(in_build_order())) == []


def test_a_complete_project_has_no_problem(tmp_path: Path) -> None:
    assert declared.problems(read(write_project(tmp_path))) == []


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda x: (x / "NOTICE").unlink(), "dl-example: NOTICE is missing; link it"),
        (
            lambda x: (x / "CHANGELOG.md").write_text("# Changelog\n\n## 0.0.9\n"),
            "dl-example: CHANGELOG.md has no section '## 0.1.0'",
        ),
        (
            lambda x: (x / "pyproject.toml").write_text(METADATA.replace("readme", "other")),
            "dl-example: pyproject.toml lacks project.readme",
        ),
    ],
)
def test_missing_declarations_are_found(tmp_path: Path, damage, said: str) -> None:  # type: ignore[no-untyped-def]
    damage(write_project(tmp_path))
    (problem,) = declared.problems(read(tmp_path))
    assert problem.startswith(said)


def test_versions_out_of_step_are_found(tmp_path: Path) -> None:
    first = write_project(tmp_path / "first")
    second = write_project(tmp_path / "second", "dl-other", "0.2.0")
    (problem,) = declared.problems(read(first, second))
    assert "0.1.0: dl-example; 0.2.0: dl-other" in problem and "bump VERSION" in problem


def test_a_bump_moves_all_versions_and_fragments(tmp_path: Path) -> None:
    first = write_project(tmp_path / "first")
    second = write_project(tmp_path / "second", "dl-other")
    (first / "changes").mkdir()
    fragment = first / "changes" / "7.fixed.md"
    fragment.write_text("Copies keep their strides.\n")
    versions.bump(read(first, second), "0.2.0", date="2026-01-02")
    assert [each.version for each in read(first, second)] == ["0.2.0", "0.2.0"]
    changes = (first / "CHANGELOG.md").read_text()
    assert changes.startswith("# Changelog\n\n## 0.2.0\n")
    assert changes.index("- Copies keep their strides. (#7)") < changes.index("## 0.1.0")
    assert not fragment.exists()
    assert declared.problems(read(first, second)) == []


@pytest.mark.parametrize("version", ["0.1.0", "0.1.0rc1", "0.0.9", "1", "v0.2.0", "0.2.0-dev"])
def test_a_bump_to_no_later_version_writes_nothing(tmp_path: Path, version: str) -> None:
    projects = read(write_project(tmp_path))
    with pytest.raises(declared.ReleaseError, match=version):
        versions.bump(projects, version)
    assert projects[0].version == "0.1.0"


def test_the_order_of_versions() -> None:
    ordered = ["0.9.9", "0.10.0a1", "0.10.0b1", "0.10.0rc2", "0.10.0", "1.0.0"]
    assert sorted(set(ordered), key=versions.key) == ordered


def wheel(folder: Path, names: list[str], file: str = "dl_x-0.1.0-py3-none-any.whl") -> Path:
    path = folder / file
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return path


LICENSES = [f"dl_x-0.1.0.dist-info/licenses/{name}" for name in declared.LICENSE_FILES]


def test_problems_of_wheels_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert wheels.problems([wheel(tmp_path, ["dl_x/a.py", *LICENSES])]) == []
    wrong = wheel(
        tmp_path,
        ["dl_x/a.so", "tests/a.py", LICENSES[0]],
        "dl_x-0.1.0-py3-none-linux_x86_64.whl",
    )
    monkeypatch.setattr(wheels, "MOST_BYTES", 10)
    size, notice, stray, tag = wheels.problems([wrong])
    assert "more than" in size and "has no NOTICE" in notice
    assert "contains tests/a.py" in stray and "no manylinux tag" in tag


def test_wheels_are_compared_by_their_files(tmp_path: Path) -> None:
    one = wheel(tmp_path, ["a", "b"], "one.whl")
    other = wheel(tmp_path, ["b", "c"], "other.whl")
    assert sdists.differences(one, other) == ["a", "c"]
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("a", "a")
        archive.writestr("b", "changed")
    assert sdists.differences(one, other) == ["b"]


def test_an_index_serves_wheels_by_name(tmp_path: Path) -> None:
    made = wheel(tmp_path, ["a"], "dl_some_name-0.1.0-py3-none-any.whl")
    pages = tmp_path / "index"
    index.write_pages([made], pages)
    with index.served(pages) as address:
        with urlopen(f"{address}dl-some-name/") as page:
            assert made.name in page.read().decode()
        with urlopen(f"{address}dl-some-name/{made.name}") as file:
            assert file.read() == made.read_bytes()
        target = tmp_path / "downloaded"
        options = ("--no-deps", "--no-cache-dir", "--index-url", address, "-d", str(target))
        command = [sys.executable, "-m", "pip", "download", *options, "dl-some-name"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        # The wheel above has no metadata; pip gets as far as reading them.
        assert made.name in done.stdout + done.stderr


def test_a_name_that_is_no_project_is_refused() -> None:
    command = [sys.executable, "-m", "tools.release", "check", "--sdists", "dl-nothing"]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "dl-nothing: no such project; use dl-autotune" in done.stderr
