"""A library that crashes, hangs and overruns, built for these tests."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import diopi_proto


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    path = tmp_path_factory.mktemp("isolation") / "libisolation.so"
    source = Path(__file__).with_name("isolation.c")
    flags = ("-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror")
    include = f"-I{diopi_proto.include_dir()}"
    subprocess.run([compiler, *flags, include, str(source), "-o", str(path)], check=True)
    return path
