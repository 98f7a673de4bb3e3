"""Every test begins without compiled graphs and with counters at zero."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from dl_dicp import cache, statistics
from dl_dicp.compiled import all_graphs


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
