"""Fixtures: plugins on the path, and a real device."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from stub_wheels import Wheels, foreign_plugins

import dl_core
from dl_core import _entry
from dl_core.errors import ActivationError


@pytest.fixture
def wheels(tmp_path: Path) -> Wheels:
    return Wheels(tmp_path)


@pytest.fixture
def on_path(wheels: Wheels, monkeypatch: pytest.MonkeyPatch) -> Wheels:
    """The same wheels, visible in this process."""
    for name in list(os.environ):
        if name.startswith(("DL_", "DIPU_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DL_DISABLE", ",".join(sorted(foreign_plugins())))
    monkeypatch.syspath_prepend(wheels.root)
    return wheels


@pytest.fixture(scope="session")
def dl_device() -> None:
    """A dl device in this process. Skips if none is installed, fails if one is broken."""
    try:
        dl_core.init()
    except ActivationError as error:
        if _entry.outcome is not None and _entry.outcome.problems:
            pytest.fail(str(error))
        pytest.skip(str(error))
