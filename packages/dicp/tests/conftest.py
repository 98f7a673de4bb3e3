"""Fixtures: every test begins without compiled graphs and with counters at zero."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from dl_dicp import statistics
from dl_dicp.compiled import all_graphs
from dl_dicp.engines.codegen import graph_engine, racing
from dl_dicp.program import cache


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    all_graphs.clear()
    cache.clear()
    statistics.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile kernels for small groups as well, and use correct kernels even if they are slower."""
    monkeypatch.setattr(graph_engine, "FEWEST_ELEMENTS", 0)
    monkeypatch.setattr(racing.RacingProgram, "_raced", racing.RacingProgram._trusted)
