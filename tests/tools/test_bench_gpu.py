"""benchmarks/gpu.py: the minimum work of a call, and the description of a device."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def work_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import _gpu_clock

    yield _gpu_clock.work_of
    for name in ("_gpu_clock", "_kernel_inputs"):
        sys.modules.pop(name, None)


def test_a_sum_reads_both_and_writes_one(work_of: Any) -> None:
    a, b = torch.ones(2, 100)
    assert work_of(lambda: a + b) == (3 * 400, 0)


def test_what_is_made_on_the_way_is_not_counted(work_of: Any) -> None:
    a = torch.ones(100)
    assert work_of(lambda: (a * 2 + 1).exp()) == (2 * 400, 0)


def test_an_expanded_tensor_is_read_once(work_of: Any) -> None:
    row, a = torch.ones(100), torch.ones(8, 100)
    moved, _ = work_of(lambda: a + row.expand(8, 100))
    assert moved == 4 * (100 + 800 + 800)


def test_a_change_in_place_reads_and_writes(work_of: Any) -> None:
    a = torch.ones(100)
    assert work_of(lambda: a.mul_(2)) == (2 * 400, 0)


def test_products_are_counted_by_torch(work_of: Any) -> None:
    a, b = torch.ones(3, 5), torch.ones(5, 7)
    assert work_of(lambda: a @ b) == (4 * (15 + 35 + 21), 2 * 3 * 5 * 7)
    images, weight = torch.ones(1, 2, 4, 4), torch.ones(3, 2, 1, 1)
    assert work_of(lambda: functional.conv2d(images, weight))[1] == 2 * 16 * 2 * 3


def run(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / "gpu.py"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.vendor("async")
def test_rows_are_times_and_the_roof_of_the_same_run(tmp_path: Path) -> None:
    file = tmp_path / "gpu.json"
    small = ("--sizes", "small", "--repeats", "2", "--roof-bytes", "4096", "--roof-products", "16")
    done = run("--only", "add_scalar", *small, "--json", str(file))
    assert done.returncode == 0, done.stderr
    report = json.loads(file.read_text())
    assert (report["vendor"], report["peer"]) == ("async", "roof")
    assert report["bytes_per_second"] > 0
    for row in report["rows"]:
        moved = 2 * 64 * 64 * (4 if row["dtype"] == "float32" else 2)
        assert row["peer_us"] == pytest.approx(moved / report["bytes_per_second"] * 1e6)
        assert row["ratio"] == pytest.approx(row["dl_us"] / row["peer_us"])


@pytest.mark.vendor("cpu")
def test_a_device_in_the_hosts_memory_is_refused() -> None:
    done = run("--only", "add_scalar")
    assert done.returncode != 0
    assert "vendor cpu" in done.stderr and "DL_VENDORS" in done.stderr
