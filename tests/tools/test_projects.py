"""The order of builds, and the detection of changed wheels."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import build_wheels
from tools.projects import (
    Project,
    closure,
    compiler_requirements,
    foreign_requirements,
    in_build_order,
    normalize_name,
    own_requirements,
)

METADATA = """
[build-system]
requires = ["setuptools>=77", "dl-diopi-proto"]
[project]
name = "dl_example"
dependencies = ["numpy>=1.23"]
"""


COMPILER = """
[tool.dl]
device-compiler = "no-such-compiler"
found-by = "finder:find"
build-variables = ["DL_EXAMPLE_ARCH"]
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "pyproject.toml").write_text(METADATA)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "module.py").write_text("value = 1\n")
    return Project.read(tmp_path, test_only=False)


def test_projects_follow_what_they_are_built_with() -> None:
    projects = in_build_order()
    names = [project.name for project in projects]
    for position, project in enumerate(projects):
        assert set(own_requirements(project, names)) <= set(names[:position])
    assert {"dl-core", "dl-diopi-proto"} <= set(names)


def test_a_wheel_is_built_with_all_that_it_needs_and_no_more() -> None:
    every = in_build_order()
    names = [project.name for project in closure(["dl-vendor-cpu"], every)]
    assert set(names) == {"dl-vendor-cpu", "dl-vendor-kit", "dl-kernels", "dl-diopi-proto"}
    assert names[0] == "dl-diopi-proto" and names[-1] == "dl-vendor-cpu"
    main_job = {project.name for project in closure(["dl-core", "dl-vendor-cpu"], every)}
    assert main_job == {*names, "dl-core", "dl-graph"}
    with pytest.raises(ValueError, match=r"'dl-nothing' is not a project; use one of .*dl-core"):
        closure(["dl-nothing"], every)


def test_metadata_is_read_with_normalised_names(project: Project) -> None:
    assert project.name == "dl-example"
    assert own_requirements(project, ["dl-diopi-proto", "dl-core"]) == ["dl-diopi-proto"]
    assert project.requires == ("numpy>=1.23",)


def test_requirement_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="'>=2' does not name a distribution"):
        normalize_name(">=2")


def test_changed_source_changes_the_digest(project: Project) -> None:
    before = project.digest([])
    (project.folder / "src" / "module.py").write_text("value = 2\n")
    assert project.digest([]) != before


def test_changed_foundation_changes_the_digest(project: Project) -> None:
    assert project.digest(["CXX=g++"]) != project.digest(["CXX=clang++"])
    assert project.digest(["a", "b"]) != project.digest(["ab"])


def test_tests_and_build_output_do_not_change_the_digest(project: Project) -> None:
    before = project.digest([])
    for name in ("tests", "build", "src/dl_example.egg-info", "src/__pycache__", ".pytest_cache"):
        (project.folder / name).mkdir()
        (project.folder / name / "file.py").write_text("other = 1\n")
    (project.folder / "src" / "library.so").write_bytes(b"built in place")
    assert project.digest([]) == before


def test_a_device_compiler_is_no_requirement_of_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_compiler = [project for project in in_build_order() if project.device_compiler]
    assert with_compiler
    monkeypatch.setenv("PATH", str(tmp_path))
    compilers = compiler_requirements()
    assert compilers and not set(compilers) & set(foreign_requirements())
    for project in with_compiler:
        program = tmp_path / str(project.device_compiler)
        program.touch(mode=0o755)
    assert compiler_requirements() == []


def test_a_wheel_without_its_compiler_is_left_out_with_the_reason(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert build_wheels.without_compiler(project) is None
    metadata = project.folder / "pyproject.toml"
    metadata.write_text(METADATA + COMPILER)
    needy = Project.read(project.folder, test_only=False)
    assert needy.build_variables == ("DL_EXAMPLE_ARCH",)
    finder = project.folder / "finder.py"
    monkeypatch.setenv("PYTHONPATH", str(project.folder))
    finder.write_text("def find(): raise RuntimeError('install the compiler')\n")
    assert build_wheels.without_compiler(needy) == "install the compiler"
    finder.write_text("def find(): return 'here it is'\n")
    assert build_wheels.without_compiler(needy) is None
