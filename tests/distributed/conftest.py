"""The ranks of these tests: one pair for each way between them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .ranks import Ranks

CARRIERS = {
    "shared-memory": {"DL_VENDORS": "cpu"},
    "staged": {"DL_VENDORS": "async", "DL_DISTRIBUTED": "gloo"},
    "communicator": {"DL_VENDORS": "async"},
}
"""How tensors travel: over gloo from where they lie, over gloo by way of pinned memory, and by the
vendor."""


@pytest.fixture(scope="session", params=CARRIERS)
def ranks(request: pytest.FixtureRequest) -> Iterator[Ranks]:
    pair = Ranks(**CARRIERS[request.param])
    yield pair
    pair.close()
