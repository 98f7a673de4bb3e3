"""The selection of tests, and the fixtures of all tests."""

from __future__ import annotations

import pytest

from .fixtures import lists, vendor
from .sampling import register

__all__ = ["lists", "vendor"]


def pytest_configure(config: pytest.Config) -> None:
    register(config)
