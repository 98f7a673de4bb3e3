"""Fixtures with two ranks for each transport between them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .ranks import Ranks

CARRIERS = {
    "shared-memory": {"DL_VENDORS": "cpu"},
    "staged": {"DL_VENDORS": "async", "DL_DISTRIBUTED": "gloo"},
    "communicator": {"DL_VENDORS": "async"},
}
"""Transports of tensors: gloo on device memory, gloo through pinned memory, and that of the
vendor."""

if os.environ.get("DL_TEST_ASCEND_SIMULATED"):
    # packages/vendor-ascend/tools/simulated.py has put its build first in PYTHONPATH.
    from dl_vendor_ascend.presence import simulated

    CARRIERS["hccl"] = {"DL_VENDORS": "ascend", **simulated()}

NAMES = {"communicator": "async", "hccl": "ascend"}
"""Vendors whose communicator is the transport; the others use gloo."""


def start_ranks(way: str, folder: Path) -> Ranks:
    """Start ranks with a transport.

    :param folder: folder for the files of a fake HCCL.
    """
    return Ranks(**CARRIERS[way], FAKE_HCCL_FOLDER=str(folder))


@pytest.fixture(scope="session", params=CARRIERS)
def ranks(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ranks]:
    pair = start_ranks(request.param, tmp_path_factory.mktemp("exchange"))
    yield pair
    pair.close()
