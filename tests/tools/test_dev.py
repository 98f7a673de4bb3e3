"""The editable environment: its packages, and the compile commands for editors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.dev import compile_commands, editable
from tools.dev.check_ide import KINDS, is_foreign, sample
from tools.projects import ROOT, Project, in_build_order

METADATA = '[build-system]\nrequires = []\n[project]\nname = "{}"\nversion = "1"\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "csrc").mkdir()
    (tmp_path / "pyproject.toml").write_text(METADATA.format("dl-example"))
    return Project.read(tmp_path, test_only=False)


def test_gpu_vendors_are_installed_only_where_they_are_named() -> None:
    every = in_build_order()
    usual = {project.name for project in editable.choose_projects([], every)}
    assert {"dl-core", "dl-vendor-cpu", "dl-dicp", "dl-kcg-compat"} <= usual
    assert not usual & {"dl-vendor-cuda", "dl-gpu-sim", "dl-vendor-async-test"}
    named = {project.name for project in editable.choose_projects(["dl-gpu-sim"], every)}
    assert named == {*usual, "dl-gpu-sim"}
    with pytest.raises(ValueError, match="'dl-nothing' is not a project"):
        editable.choose_projects(["dl-nothing"], every)


def test_a_library_is_built_again_after_an_edit_of_what_it_is_built_with(project: Project) -> None:
    before = editable.hash_sources([project])["dl-example"]
    editable.stamp_of(project).parent.mkdir(parents=True)
    editable.stamp_of(project).write_text(before)
    assert editable.is_built(project, editable.hash_sources([project])["dl-example"])
    (project.folder / "csrc" / "example.cpp").write_text("int value;")
    assert not editable.is_built(project, editable.hash_sources([project])["dl-example"])


def test_built_files_in_the_source_tree_are_no_sources(project: Project) -> None:
    before = project.digest([])
    (project.folder / "src" / "lib").mkdir(parents=True)
    for name in ("libexample.so", "libexample.so.1", "_C.cpython-311-x86_64-linux-gnu.so"):
        (project.folder / "src" / "lib" / name).touch()
    (project.folder / "src" / "_build_info.py").write_text("TORCH_VERSION = '1'")
    assert project.digest([]) == before


def test_an_edit_of_python_does_not_install_a_package_again(project: Project) -> None:
    before = editable.hash_metadata(project)
    package = project.folder / "src" / "example"
    package.mkdir(parents=True)
    (package / "module.py").write_text("value = 1")
    assert editable.hash_metadata(project) == before
    (package / "_version.py").write_text("__version__ = '2'")
    assert editable.hash_metadata(project) != before


def test_the_objects_of_builds_are_where_the_configuration_puts_them() -> None:
    config = Path(editable.build_environment()["DIST_EXTRA_CONFIG"])
    assert f"build_temp = {editable.OBJECTS.as_posix()}\n" in config.read_text()


def test_a_unit_stands_for_the_files_that_it_includes(tmp_path: Path) -> None:
    unit = tmp_path / "build" / "unit.cpp"
    unit.parent.mkdir()
    unit.write_text('#include "dl_kernels/ops/softmax.inc"\n#include <cmath>\n')
    include = ROOT / "packages" / "kernels" / "include"
    command = ["g++", f"-I{include}", "-c", "-c", str(unit), "-o", "unit.o"]
    softmax = include / "dl_kernels" / "ops" / "softmax.inc"
    assert compile_commands.sources_of(command) == [softmax]
    assert compile_commands.sources_of(["nvcc", "-c", "unit.cu"]) == []


def test_flags_are_those_of_the_language() -> None:
    options = ("-MMD", "-MF", "a.d", "-O2", "-include", "precompiled.h", "-I.", "-c", "-c", "a.cpp")
    command = ["ccache", "c++", *options, "-o", "a.o"]
    assert compile_commands.flags_of(command) == ["c++", "-O2", "-I."]


def test_gpu_headers_are_compiled_for_the_emulated_gpu() -> None:
    family = compile_commands.HEADERS / "ops" / "softmax.inc"
    entries = {family: ["g++", "-O2", "-x", "c++", str(family)]}
    headers = compile_commands.kernel_headers(entries)
    launch = headers[compile_commands.HEADERS / "gpu" / "launch.h"]
    assert launch[:2] == ["g++", "-O2"] and set(compile_commands.EMULATED_GPU) <= set(launch)
    operators = headers[compile_commands.HEADERS / "operators.h"]
    assert not set(compile_commands.EMULATED_GPU) & set(operators)
    assert compile_commands.HEADERS / "machine" / "cuda.h" not in headers
    assert compile_commands.kernel_headers({}) == {}


def test_the_check_opens_files_of_every_kind() -> None:
    files = sample()
    assert len(files) >= 2 * len(KINDS) - 2
    assert all(path.is_file() for path in files)
    assert {".inc", ".h", ".cpp"} == {path.suffix for path in files}
    assert not any(is_foreign(path) for path in files)


def test_an_option_of_the_caller_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(editable.TOGETHER, "4")
    assert editable.build_environment()[editable.TOGETHER] == "4"
    monkeypatch.delenv(editable.TOGETHER)
    assert editable.build_environment()[editable.TOGETHER] == "1"
