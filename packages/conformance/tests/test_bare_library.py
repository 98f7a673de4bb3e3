"""One command tests a library of three operators in plain C, without a wheel or a vendor table."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Compile = Callable[..., Path]
NEGATED = "float runtime_negated(float x) { return -x; }"


def suite(library: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dl_conformance", "--library", str(library), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def bare(compile_c: Compile) -> Path:
    return compile_c(Path(__file__).with_name("bare.c"))


def test_one_command_tests_the_whole_library(bare: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    done = suite(bare, "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "of 3 operators" in done.stdout
    report = json.loads(file.read_text())
    assert report["vendor"]["name"] == "bare"
    passed = {x["operator"] for x in report["cases"] if x["status"] == "passed"}
    assert passed == {"diopiNeg", "diopiRelu", "diopiMul"}
    dtypes = {x["dtype"] for x in report["cases"] if x["status"] == "passed"}
    assert dtypes == {"float32"}


def test_readme_has_the_compiler_command(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc")
    here = Path(__file__)
    readme = here.parents[1].joinpath("README.md").read_text()
    (line,) = re.findall(r"^\$ (gcc .* mine\.c -o libmine\.so)$", readme, re.MULTILINE)
    shutil.copy(here.with_name("bare.c"), tmp_path / "mine.c")
    python = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(line, shell=True, cwd=tmp_path, check=True, env={**os.environ, "PATH": python})
    done = suite(tmp_path / "libmine.so", "--fname", "Neg", "--only-dtype", "float32")
    assert done.returncode == 0, done.stdout + done.stderr


def test_selected_names_are_listed(bare: Path, tmp_path: Path) -> None:
    chosen = ("--fname", "Neg", "-k", "float32-5]")
    done = suite(bare, "--list", *chosen)
    assert (done.returncode, done.stdout) == (0, "diopiNeg[float32-5]\n")
    done = suite(tmp_path / "none.so", "--list", *chosen)
    assert (done.returncode, done.stdout) == (2, "")
    assert "none.so: no such file" in done.stderr


def test_library_that_needs_a_runtime_gets_it(compile_c: Compile, tmp_path: Path) -> None:
    source = tmp_path / "runtime.c"
    source.write_text(NEGATED)
    runtime = compile_c(source)
    needy = compile_c(Path(__file__).with_name("bare.c"), "-DNEEDS_RUNTIME")
    chosen = ("--fname", "Neg", "--only-dtype", "float32")
    done = suite(needy, "--runtime", str(runtime), *chosen)
    assert done.returncode == 0, done.stdout + done.stderr
    without = suite(needy, *chosen)
    assert without.returncode == 2
    assert "runtime_negated" in without.stderr
