"""Fixtures that a vendor's conftest.py imports; it defines ``processes`` for the session."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from .processes import Processes


@pytest.fixture(scope="session")
def fake_library(
    processes: Processes, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], str]:
    """Return a function that builds a fake library once: ``fake_library("nccl")`` is its path."""
    folder = tmp_path_factory.mktemp("libraries")
    return cache(lambda name: processes.compile_library(name, folder))
