"""Reports of model tests, on a small model. A nox session tests the models of the list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from dl_core.cli import main
from dl_dicp.program.compiled_program import Program
from dl_dicp.testing import models
from dl_dicp.testing.model_list import Family

SMALL = Family(
    lambda: nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2)),
    lambda size: (torch.randn(size, 4, generator=torch.Generator().manual_seed(size)),),
    (2, 3),
)


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "TRAINING_STEPS", 4)


def test_a_small_model_is_as_eager() -> None:
    report = models.run("small", SMALL, dynamic=None)
    assert report.problem is None
    assert report.samples == 10
    assert report.seen.graphs


def off_in_training(results: list[Any]) -> list[Any]:
    """Change only training: its forward graphs also return values for the backward pass."""
    return [results[0] * 1.001, *results[1:]] if len(results) > 1 else results


def off_everywhere(results: list[Any]) -> list[Any]:
    return [x * 1.001 if isinstance(x, torch.Tensor) else x for x in results]


@pytest.mark.parametrize(
    ("fault", "wanted"),
    [(off_everywhere, "inference: size 2: value 0"), (off_in_training, "training: loss of step")],
)
def test_a_wrong_program_is_reported(
    fault: Callable[[list[Any]], list[Any]], wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Program.run
    monkeypatch.setattr(Program, "run", lambda self, *given: fault(right(self, *given)))
    report = models.run("small", SMALL, dynamic=None)
    assert str(report.problem).startswith(wanted)


def test_host_calls_are_reported() -> None:
    with torch.dl.force_fallback("gelu"):
        report = models.run("small", SMALL, dynamic=None)
    assert report.problem == "inference: host calls: gelu"


def test_models_that_run_eagerly_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    from dl_dicp.compiled import CompiledGraph

    monkeypatch.setattr(
        CompiledGraph, "__call__", lambda self, given: self._eagerly(given, "for a test")
    )
    report = models.run("small", SMALL, dynamic=None)
    assert report.problem == "inference: no contract graph ran"


def test_the_llama_of_a_folder_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=1
    )
    transformers.LlamaForCausalLM(config).save_pretrained(tmp_path)
    monkeypatch.setenv("LLAMA_MODEL_DIR", str(tmp_path))
    assert main(["dicp", "test", "models", "-k", "llama-of-folder"]) == 0
    assert "llama-of-folder: agrees with eager; 9 runs compared" in capsys.readouterr().out
    monkeypatch.setenv("LLAMA_MODEL_DIR", str(tmp_path / "nowhere"))
    assert main(["dicp", "test", "models", "-k", "llama-of-folder"]) == 2
    assert "nowhere" in capsys.readouterr().err
