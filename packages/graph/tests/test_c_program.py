"""Graphs in a C program without Python and torch."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import diopi_proto
import dl_graph
from graph_models import BIAS, FIRST, SECOND, mlp
from graph_vendor import GRAPH_OPERATORS

Compile = Callable[..., Path]
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C program, linked to the libraries of both wheels."""
    built = tmp_path_factory.mktemp("program") / "run_graph"
    libraries = (dl_graph.graph_library(), diopi_proto.host_library())
    folders = (diopi_proto.include_dir(), dl_graph.include_dir())
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", *(f"-I{folder}" for folder in folders)]
    linked = [*map(str, libraries), "-ldl", *(f"-Wl,-rpath,{x.parent}" for x in libraries)]
    source = str(HERE / "fixtures" / "run_graph.c")
    subprocess.run(["gcc", *flags, source, *linked, "-o", str(built)], check=True)
    return built


def wanted(rows: int) -> np.ndarray:
    return np.asarray(np.maximum(np.ones((rows, 8)) @ FIRST + BIAS, 0) @ SECOND)


@pytest.mark.parametrize("rows", [1, 5])
def test_a_c_program_loads_and_runs_a_graph(
    program: Path, build_vendor: Compile, tmp_path: Path, rows: int
) -> None:
    mlp().build().save(tmp_path / "model.dlg")
    command = [program, tmp_path / "model.dlg", build_vendor(*GRAPH_OPERATORS), str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    got = np.array(done.stdout.split(), float).reshape(rows, 4)
    np.testing.assert_allclose(got, wanted(rows), rtol=1e-4, atol=1e-4)


def test_a_c_program_gets_the_error_message(
    program: Path, build_vendor: Compile, tmp_path: Path
) -> None:
    content = mlp().build().content
    (tmp_path / "model.dlg").write_bytes(content[:-1])
    command = [program, tmp_path / "model.dlg", build_vendor(*GRAPH_OPERATORS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "model.dlg: tensor" in done.stderr and "cut off" in done.stderr
    (tmp_path / "model.dlg").write_bytes(content)
    done = subprocess.run([*command, "65"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "batch = 65, but the graph was made for 1 to 64" in done.stderr


def test_a_c_program_misses_the_file(program: Path, tmp_path: Path) -> None:
    command = [program, tmp_path / "none.dlg", "none.so"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "none.dlg: it cannot be opened: No such file" in done.stderr
