"""Tests of the kit's headers: programs in ``checks/``, which print failed checks."""

from __future__ import annotations

import importlib.util
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from diopi_proto import include_dir as contract_dir
from dl_vendor_kit import include_dir

sys.path.insert(0, str(Path(__file__).parents[1]))

from driver_tests.processes import compile_driver

HERE = Path(__file__).parent
CHECKS = sorted(path.stem for path in (HERE / "checks").glob("*.cpp"))
RUNTIME = HERE / "fakes" / "runtime"
COMPILER = shlex.split(os.environ.get("CXX", "g++"))
FLAGS = ("-std=c++17", "-O1", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-pthread")

Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Return a function that compiles a check once: ``program("lru", "-DX")``."""
    folder = tmp_path_factory.mktemp("checks")
    folders = [f"-I{path}" for path in (include_dir(), contract_dir(), HERE / "checks", RUNTIME)]

    def compile_check(name: str, *flags: str) -> Path:
        target = folder / "".join((name, *flags))
        if not target.exists():
            sources = [HERE / "checks" / f"{name}.cpp"]
            if name == "runtime":
                sources += sorted(RUNTIME.glob("*.cpp"))
            command = [
                *COMPILER,
                *FLAGS,
                *flags,
                *folders,
                *map(str, sources),
                "-o",
                str(target),
                "-ldl",
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        return target

    return compile_check


def start(program: Path, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "CHECK_FOLDER": str(folder), **variables}
    return subprocess.run(
        [program], env=env, capture_output=True, text=True, timeout=120, check=False
    )


def run(program: Path, folder: Path, **variables: str) -> None:
    done = start(program, folder, **variables)
    assert done.returncode == 0, done.stderr or f"exit status {done.returncode}"


@pytest.fixture(scope="session")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the paths of a fake HIP runtime and of dl-gpu-sim's driver, if it is installed."""
    target = tmp_path_factory.mktemp("fakes") / "libamdhip64.so"
    found = {"FAKE_HIP": str(compile_driver("hip", target, "-Wall", "-Wextra", "-Werror"))}
    if importlib.util.find_spec("dl_gpu_sim") is not None:
        from dl_gpu_sim.paths import library

        found["FAKE_CUDA"] = str(library())
    return found


@pytest.mark.parametrize("name", CHECKS)
def test_check(program: Compile, fakes: dict[str, str], tmp_path: Path, name: str) -> None:
    if name == "cuda_loader" and "FAKE_CUDA" not in fakes:
        pytest.skip("dl-gpu-sim is not installed")
    run(program(name), tmp_path, **fakes)


@pytest.mark.parametrize("loader", ["cuda_loader", "hip_loader"])
def test_a_launch_without_a_driver_is_an_error(
    program: Compile, tmp_path: Path, loader: str
) -> None:
    missing = str(tmp_path / "gone.so")
    run(program(loader), tmp_path, FAKE_CUDA=missing, FAKE_HIP=missing)


def test_no_device_is_no_error(program: Compile, tmp_path: Path) -> None:
    run(program("runtime"), tmp_path, SIM_DEVICES="0")


def test_a_vendor_that_forgets_the_current_device_is_noticed(
    program: Compile, tmp_path: Path
) -> None:
    done = start(program("runtime", "-DFORGETS"), tmp_path)
    assert done.returncode != 0
    assert "the current" in done.stderr


def test_a_check_can_fail(tmp_path: Path) -> None:
    source = tmp_path / "wrong.cpp"
    source.write_text('#include "check.h"\nMAIN { CHECK(1 + 1 == 3); }\n', encoding="utf-8")
    folders = [f"-I{path}" for path in (include_dir(), contract_dir(), HERE / "checks")]
    target = tmp_path / "wrong"
    subprocess.run([*COMPILER, *FLAGS, *folders, str(source), "-o", str(target)], check=True)
    done = subprocess.run([target], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "1 + 1 == 3" in done.stderr
