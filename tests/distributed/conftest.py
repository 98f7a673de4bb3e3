"""Fixtures with two ranks for each transport between them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .ranks import Ranks

CARRIERS = {
    "shared-memory": {"DL_VENDORS": "cpu"},
    "staged": {"DL_VENDORS": "async", "DL_DISTRIBUTED": "gloo"},
    "communicator": {"DL_VENDORS": "async"},
}
"""Transports of tensors: gloo on device memory, gloo through pinned memory, and that of the
vendor."""


@pytest.fixture(scope="session", params=CARRIERS)
def ranks(request: pytest.FixtureRequest) -> Iterator[Ranks]:
    pair = Ranks(**CARRIERS[request.param])
    yield pair
    pair.close()
