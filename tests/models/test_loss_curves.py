"""The examples, trained on dl and on the CPU, have close loss curves, and recognize digits."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .steps import train_cnn, train_decoder, train_encoder

# Training amplifies roundings: at a learning rate of 1e-3, changing the initial weights by one ulp
# moved the CPU's own curve of the decoder by up to 7e-3 in 50 steps, so that the test would depend
# on the model more than on the device. That is why the examples' rate is 5e-4. Every seed has to
# pass.
SEEDS = (0, 1, 2)
STEPS = 50
LARGEST_DISTANCE = 1e-4
LEAST_ACCURACY = 0.97

TRANSFORMERS = {"encoder": train_encoder, "decoder": train_decoder}


def run_example(
    example: ModuleType, *arguments: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """Run the example's program in this process, and return the results that it wrote."""
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
    # Two constant curves would be close, too.
    assert curves[1][-1] < 0.9 * curves[1][0]
    assert max(distances) <= LARGEST_DISTANCE


@pytest.mark.vendor("cpu")  # a vendor for tests takes minutes
@pytest.mark.parametrize("seed", [0, *(pytest.param(x, marks=pytest.mark.full) for x in SEEDS[1:])])
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_losses_stay_with_the_cpus(
    name: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_curves_stay_together(
        name, "--quick", f"--seed={seed}", folder=tmp_path, monkeypatch=monkeypatch
    )


@pytest.mark.full
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_losses_stay_with_the_cpus_on_full_batches(
    name: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_curves_stay_together(name, f"--seed={seed}", folder=tmp_path, monkeypatch=monkeypatch)


@pytest.mark.full
@pytest.mark.parametrize("where", ["dl", "cpu"])
def test_cnn_reads_the_digits(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run_example(train_cnn, f"--device={where}", folder=tmp_path, monkeypatch=monkeypatch)
    assert found["device"] == where
    assert found["accuracy"] >= LEAST_ACCURACY
