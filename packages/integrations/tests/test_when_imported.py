"""Actions before the import of a module, which itself is unchanged."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dl_integrations.when_imported import watch


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "watched_module.py").write_text("import log\nlog.events.append('module')\n")
    (tmp_path / "log.py").write_text("events = []\n")
    monkeypatch.syspath_prepend(tmp_path)
    finders = list(sys.meta_path)
    yield "watched_module"
    sys.meta_path[:] = finders
    sys.modules.pop("watched_module", None)
    sys.modules.pop("log", None)


def events() -> list[str]:
    return importlib.import_module("log").events


def test_an_action_comes_before_its_module_once(module: str) -> None:
    log = events()
    watch({module: lambda: log.append("before")})
    found = importlib.import_module(module)
    assert log == ["before", "module"]
    importlib.reload(found)
    assert log == ["before", "module", "module"]


def test_what_is_imported_already_is_acted_on_at_once(module: str) -> None:
    log = events()
    importlib.import_module(module)
    watch({module: lambda: log.append("action")})
    assert log == ["module", "action"]


def test_an_action_that_fails_is_a_warning(module: str) -> None:
    def fail() -> None:
        raise RuntimeError("broken")

    watch({module: fail})
    with pytest.warns(
        RuntimeWarning, match="could not be registered with .*: RuntimeError: broken"
    ):
        importlib.import_module(module)
    assert module in sys.modules


@pytest.mark.parametrize(
    ("imports", "check"),
    [
        ("torch, accelerate", "accelerate.Accelerator().device.type"),
        ("accelerate, torch", "accelerate.Accelerator().device.type"),
        # test_lightning.py imports them in the other order.
        ("torch, lightning", "lightning.Trainer(strategy='dl', logger=False).accelerator.name()"),
    ],
)
def test_frameworks_learn_of_dl_in_either_order(imports: str, check: str) -> None:
    code = f"import {imports}; print({check})"
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout.splitlines()[-1:] == ["dl"], done.stderr
