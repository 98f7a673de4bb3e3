"""A pytest plugin: an emulated GPU is slow, so a share of the tests runs, always the same ones.

``DL_TEST_SAMPLE=1`` runs all.
"""

from __future__ import annotations

import hashlib
import os

import pytest

ONE_OF = 8


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("DL_TEST_SAMPLE") == "1":
        return
    taken: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        digest = hashlib.sha256(item.nodeid.encode()).digest()
        (taken if digest[0] % ONE_OF == 0 else left).append(item)
    items[:] = taken
    config.hook.pytest_deselected(items=left)
