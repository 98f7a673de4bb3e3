"""Actions before and after the import of a module, which itself is unchanged."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from dl_core.when_imported import watch


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


def test_an_action_comes_after_its_module_once(module: str) -> None:
    log = events()
    watch({}, {module: [lambda: log.append("after")]})
    found = importlib.import_module(module)
    assert log == ["module", "after"]
    importlib.reload(found)
    assert log == ["module", "after", "module"]
    assert "exec_module" not in vars(found.__spec__.loader)


def test_an_action_waits_for_a_module_that_is_being_executed(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = events()
    (tmp_path / "next_module.py").touch()
    monkeypatch.setitem(sys.modules, "next_module", None)
    monkeypatch.delitem(sys.modules, "next_module")
    unfinished = types.ModuleType(module)
    unfinished.__spec__ = ModuleSpec(module, None)
    unfinished.__spec__._initializing = True  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module, unfinished)
    watch({}, {module: [lambda: log.append("after")]})
    assert log == []
    unfinished.__spec__._initializing = False  # type: ignore[attr-defined]
    importlib.import_module("next_module")
    assert log == ["after"]
