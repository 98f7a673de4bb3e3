"""Kernels are used only if they are right and faster; without them, the executor runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from codegen_kit import OPTIONS, Function
from dl_dicp import statistics
from dl_dicp.engines import registry
from dl_dicp.engines.codegen import expressions, graph_engine, racing
from dl_dicp.reports.explain import explain

aten = torch.ops.aten
pytestmark = pytest.mark.usefixtures("always")


def chain(x: Tensor, y: Tensor) -> Tensor:
    return torch.tanh(x * y) + x


def settled(function: Function = chain) -> None:
    """Run until kernels could have been chosen, and compare with eager mode."""
    compiled = torch.compile(function, backend="dl", options=OPTIONS)
    x, y = (torch.randn(6, 40).to("dl") for _ in range(2))
    for _ in range(3):
        torch.testing.assert_close(compiled(x, y).cpu(), function(x, y).cpu())
    racing.wait_for_kernels()
    for _ in range(3):
        torch.testing.assert_close(compiled(x, y).cpu(), function(x, y).cpu())


def dropped() -> str:
    """Return why the only graph has no kernels."""
    ((name, why),) = statistics.dropped
    assert name == "codegen" and why in explain()
    return why


def test_a_wrong_kernel_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = expressions.Elementwise("math::sigmoid({input})")
    monkeypatch.setitem(expressions.RULES, "diopiTanh", [wrong])
    settled()
    assert "differs from that of the contract program" in dropped()
    assert not statistics.engine_runs["codegen"]


def test_text_that_does_not_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = expressions.Elementwise("tangent({input})")
    monkeypatch.setitem(expressions.RULES, "diopiTanh", [wrong])
    settled()
    assert "fused.cpp does not compile" in dropped()


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    registry.forget()
    monkeypatch.setenv("DL_CPU_CXX", "off")
    settled()
    assert "DL_CPU_CXX=off" in dropped()
    registry.forget()


def test_kernels_that_are_slower_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(graph_engine, "FEWEST_ELEMENTS", 0)
    clock = iter(range(0, 10**9, 1000))
    kernels = iter([True, False] * racing.RUNS)

    def now() -> int:
        """Kernels take 5 microseconds, the executor 1."""
        return next(clock) if next(started) else next(clock) + (4000 if next(kernels) else 0)

    started = iter([True, False] * 4 * racing.RUNS)
    monkeypatch.setattr(racing.time, "perf_counter_ns", now)
    compiled = torch.compile(chain, backend="dl", options=OPTIONS)
    x, y = (torch.randn(6, 40).to("dl") for _ in range(2))
    for _ in range(3):
        compiled(x, y)
    racing.wait_for_kernels()
    for _ in range(2 * racing.RUNS + 2):
        torch.testing.assert_close(compiled(x, y).cpu(), chain(x, y).cpu())
    assert dropped() == "its kernels took 5 microseconds, the executor 1"


def test_few_elements_are_left_to_the_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_engine, "FEWEST_ELEMENTS", 1 << 17)
    settled()
    assert not statistics.engine_runs and not statistics.dropped


def test_sizes_that_vary_are_left_to_the_executor() -> None:
    compiled = torch.compile(chain, backend="dl", options=OPTIONS, dynamic=True)
    for rows in (4, 9, 4):
        x, y = (torch.randn(rows, 40).to("dl") for _ in range(2))
        torch.testing.assert_close(compiled(x, y).cpu(), chain(x, y).cpu())
    assert dropped() == "the sizes of the graph vary"


def test_warm_builds_what_a_program_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import torch\n"
        "f = torch.compile(lambda x: torch.tanh(x * 2) + x, backend='dl',\n"
        "                  options={'engine': 'codegen'})\n"
        "f(torch.rand(512, 512, device='dl'))\n"
    )
    command = [sys.executable, "-m", "dl_core", "dicp", "warm", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "kernels of 1 graphs are built\n"), done.stderr
    monkeypatch.setenv("DL_CPU_CXX", "off")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stdout == "kernels of 0 graphs are built\n"
    assert "DL_CPU_CXX=off" in done.stderr
