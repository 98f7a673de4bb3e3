"""Shared fixtures: fake measurements; and the path of the helpers for programs on devices."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "vendor-kit"))


@pytest.fixture
def _all_are_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fake measurements: each kernel is twice as fast as torch, and the first one even faster."""
    searching, observers = map(importlib.import_module, ("kcg.searching", "dl_autotune.observers"))

    def measure(_: Any, config: Any, seed: int) -> Any:
        return searching.Measured(config, 1 + 1 / (1 + seed), 1.0, 2.0)

    def again(_: Any, finalists: Any) -> Any:
        faster = observers.Claim(observers.Verdict.FASTER, observers.Interval(2.0, 1.9, 2.1))
        return [searching.Measured(each.config, 2.0, 1.0, 2.0, faster) for each in finalists]

    monkeypatch.setattr(searching.Searcher, "measure", measure)
    monkeypatch.setattr(searching.Searcher, "again", again)
