"""The examples, trained on dl and on the CPU: curves stay together, and digits are read."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .steps import train_cnn, train_decoder, train_encoder

# Training amplifies roundings. If the first weights move by one ulp, the CPU's own curve of the
# decoder moves in 50 steps by 2e-4 (seed 0) or 3e-6 (seed 1) on small batches, by 3e-5 (seed 0) or
# 7e-3 (seed 1) on full ones: only where it moves by less than the distance can a device be judged.
SMALL_BATCHES = ("--quick", "--seed=1")
FULL_BATCHES = ("--seed=0",)
STEPS = 50
LARGEST_DISTANCE = 1e-4
LEAST_ACCURACY = 0.97

TRANSFORMERS = {"encoder": train_encoder, "decoder": train_decoder}


def run_example(
    example: ModuleType, *arguments: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """Run the example's program in this process; returns what it wrote down."""
    metrics = folder / "metrics.json"
    monkeypatch.setattr(sys, "argv", ["example", "--metrics", str(metrics), *arguments])
    example.main()
    return json.loads(metrics.read_text())


def assert_curves_stay_together(
    name: str, *arguments: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    curves = [
        run_example(
            TRANSFORMERS[name],
            f"--device={device}",
            f"--steps={STEPS}",
            *arguments,
            folder=folder,
            monkeypatch=monkeypatch,
        )["losses"]
        for device in ("dl", "cpu")
    ]
    distances = [abs(left - right) for left, right in zip(*curves, strict=True)]
    print(f"{name}: at most {max(distances):.1e} apart, after {distances.index(max(distances))}")
    assert len(distances) == STEPS
    # Two curves that do not move stay together too.
    assert curves[1][-1] < 0.9 * curves[1][0]
    assert max(distances) <= LARGEST_DISTANCE


@pytest.mark.vendor("cpu")  # a vendor for tests takes minutes
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_losses_stay_with_the_cpus(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_curves_stay_together(name, *SMALL_BATCHES, folder=tmp_path, monkeypatch=monkeypatch)


@pytest.mark.full
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_losses_stay_with_the_cpus_on_full_batches(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_curves_stay_together(name, *FULL_BATCHES, folder=tmp_path, monkeypatch=monkeypatch)


@pytest.mark.full
@pytest.mark.parametrize("where", ["dl", "cpu"])
def test_cnn_reads_the_digits(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run_example(train_cnn, f"--device={where}", folder=tmp_path, monkeypatch=monkeypatch)
    assert found["device"] == where
    assert found["accuracy"] >= LEAST_ACCURACY
