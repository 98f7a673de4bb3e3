"""A plugin with files that other users can write is not imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from dl_core.module_trust import why_module_untrusted


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "path" / "planted_package"
    (folder / "inner").mkdir(parents=True)
    for name in ("__init__.py", "plugin.py", "inner/__init__.py", "inner/plugin.py"):
        (folder / name).write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(str(folder.parent))
    return folder


@pytest.mark.parametrize(
    "module", ["planted_package", "planted_package.plugin", "planted_package.inner.plugin"]
)
def test_what_only_we_can_write_is_trusted_and_not_imported(package: Path, module: str) -> None:
    assert why_module_untrusted(module) is None


@pytest.mark.parametrize(
    "place", ["", "__init__.py", "inner", "inner/__init__.py", "inner/plugin.py"]
)
def test_what_others_can_write_is_not(package: Path, place: str) -> None:
    (package / place).chmod(0o777)
    reason = why_module_untrusted("planted_package.inner.plugin")
    assert reason is not None and str(package / place) in reason


def test_compiled_files_that_others_can_write_are_not(package: Path) -> None:
    (package / "__pycache__").mkdir()
    (package / "__pycache__").chmod(0o777)
    reason = why_module_untrusted("planted_package.plugin")
    assert reason is not None and "__pycache__" in reason


def test_a_link_to_where_others_can_write_is_not(package: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    package.rename(shared)
    shared.chmod(0o777)
    package.symlink_to(shared)
    reason = why_module_untrusted("planted_package.plugin")
    assert reason is not None and str(shared) in reason


@pytest.mark.parametrize("module", ["sys", "nowhere_to_be_found", "json.nowhere", "json.decoder"])
def test_what_is_nowhere_or_pythons_own_is_left_to_the_import(module: str) -> None:
    assert why_module_untrusted(module) is None
