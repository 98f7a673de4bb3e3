"""Projects of ``dl new-vendor``: names, contents, and the examples in docs/new-vendor.md."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import pytest

import diopi_proto
from dl_vendor_kit import command, include_dir
from dl_vendor_kit.project import KINDS, MEMORIES, ProjectError, check_name, create, render

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = Path(__file__).parents[1]
ALL = [(kind, memory) for kind, each in KINDS.items() for memory in each.memories]
PLACEHOLDER = re.compile(
    r"__(?!attribute|cplusplus|file|future|init|main|name|pycache|version)[a-z_]+__"
)


# Wheels of this name exist, whether they are installed or not.
PACKAGES = Path(__file__).parents[2]
VENDORS = sorted(folder.name.removeprefix("vendor-") for folder in PACKAGES.glob("vendor-*"))


def test_the_packages_of_vendors_are_found() -> None:
    assert {"cpu", "kit"} <= set(VENDORS)


@pytest.mark.parametrize("name", ["npu", "my_npu", "a1", "x" * 40])
def test_identifier_is_a_name(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        *((name, "cannot be a vendor's name") for name in ("", "Npu", "1a", "a-b", "a__b", "_a")),
        ("x" * 41, "up to 40 lower-case letters"),
        ("../npu", "cannot be a vendor's name"),
        *((name, "is a reserved word") for name in ("int", "namespace", "class", "lambda", "std")),
        *((name, "is the name of a vendor or plugin") for name in ("dl", "torch", *VENDORS)),
        ("all", "has a meaning of its own in DL_DISABLE"),
    ],
)
def test_invalid_name_is_refused_with_the_reason(name: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=re.escape(reason)):
        create(name, kind="cpp", memory="separate", folder=tmp_path / "project")
    assert list(tmp_path.iterdir()) == []


def test_existing_folder_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "mine").touch()
    with pytest.raises(ProjectError, match="exists; remove it, or choose another folder"):
        create("npu", kind="cpp", memory="shared", folder=folder)
    assert [x.name for x in folder.iterdir()] == ["mine"]


def test_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ProjectError, match="cannot be created"):
        create("npu", kind="c", memory="shared", folder=tmp_path / "file" / "project")


@pytest.mark.parametrize(
    ("kind", "memory"), [(kind, memory) for kind in KINDS for memory in MEMORIES]
)
def test_memory_that_a_kind_does_not_support_names_the_remedy(kind: str, memory: str) -> None:
    if (kind, memory) in ALL:
        assert render("npu", kind, memory)
        return
    words = f"--kind {kind} does not support --memory {memory}: "
    with pytest.raises(ProjectError, match=f"^{words}.*, or (use )?--kind cpp"):
        render("npu", kind, memory)


@pytest.mark.parametrize(("kind", "memory"), ALL)
def test_project_is_whole(kind: str, memory: str) -> None:
    files = render("my_npu", kind, memory)
    for path, text in files.items():
        assert not PLACEHOLDER.search(path) and not PLACEHOLDER.search(text), path
        if path.endswith(".py"):
            compile(text, path, "exec")
    project = tomllib.loads(files["pyproject.toml"])
    assert project["project"]["name"] == "dl-vendor-my-npu"
    assert project["project"]["entry-points"]["dl"] == {"my_npu": "dl_vendor_my_npu.plugin"}
    pins = [x for x in project["build-system"]["requires"] if x.startswith("dl-")]
    assert f"dl-diopi-proto~={diopi_proto.__version__}" in pins
    assert len(pins) == len(KINDS[kind].requires)
    named = set(re.findall(r"^\| `([^`]+)`", files["README.md"], re.MULTILINE))
    for path in files:
        if path.startswith("csrc/"):
            assert any(Path(path).match(pattern) for pattern in named), path
    # The device of kind opencl is a real one.
    assert ("csrc/driver.c" in files) == (memory == "separate" and kind != "opencl")


def test_every_template_is_part_of_a_project() -> None:
    layers = {x.name for x in (PACKAGE / "src" / "dl_vendor_kit" / "templates").iterdir()}
    used = {layer for kind, memory in ALL for layer in KINDS[kind].layers(kind, memory)}
    assert layers <= used
    assert {memory for _, memory in ALL} == set(MEMORIES)


def test_licence_is_that_of_this_project() -> None:
    ours = PACKAGE.parents[1] / "LICENSE"
    assert render("npu", "c", "shared")["LICENSE"] == ours.read_text(encoding="utf-8")


def test_command_creates_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    parser = argparse.ArgumentParser()
    command.configure(parser)
    assert command.run(parser.parse_args(["my_npu", "--kind", "kernels"])) == 0
    said = capsys.readouterr().out
    assert "pip install ./dl-vendor-my-npu\n" in said and "dl vendor check my_npu" in said
    assert (tmp_path / "dl-vendor-my-npu" / ".github" / "workflows" / "test.yaml").is_file()
    assert (tmp_path / "dl-vendor-my-npu" / "tests" / "test_vendor.py").is_file()
    assert command.run(parser.parse_args(["my_npu"])) == 2
    assert "exists; remove it" in capsys.readouterr().err
    assert command.run(parser.parse_args(["npu", "--folder", "my chips/npu"])) == 0
    said = capsys.readouterr().out
    assert "pip install './my chips/npu'\n" in said and "python 'my chips/npu/train.py'" in said
    assert command.run(parser.parse_args(["npu", "--folder", ""])) == 2
    assert ". exists; choose another folder with --folder" in capsys.readouterr().err


def test_worked_example_of_the_page_compiles(tmp_path: Path) -> None:
    text = (PACKAGE / "docs" / "new-vendor.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```cpp\n(.*?)```", text, re.DOTALL)
    source = tmp_path / "npu.cpp"
    source.write_text(code)
    folders = [f"-I{folder}" for folder in (include_dir(), diopi_proto.include_dir())]
    flags = ("-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror")
    done = subprocess.run(
        ["g++", *flags, *folders, str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
