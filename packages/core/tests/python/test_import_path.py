"""Entries of sys.path that dl-core trusts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dl_core.import_path import TrustedPath, usual_path, without_current_folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return str(tmp_path)


def filter_path(path: list[str], pythonpath: str = "", *, implied: bool = True) -> list[str]:
    environ = {"PYTHONPATH": pythonpath} if pythonpath else {}
    return without_current_folder(path, environ, first_is_implied=implied)


def test_the_empty_and_the_relative_stand_for_the_current_folder(here: str) -> None:
    assert filter_path(["", "/a", "b", "./c", "/d"]) == ["/a", "/d"]


def test_the_first_part_is_what_python_put_there(here: str) -> None:
    assert filter_path([here, "/a"]) == ["/a"]
    assert filter_path([here, "/a"], implied=False) == [here, "/a"]
    assert filter_path(["/script", here]) == ["/script", here]


@pytest.mark.parametrize("pythonpath", [":", "/a:", ":/a", ".", "./", "/a:."])
def test_an_empty_part_of_pythonpath_is_nobodys_choice(here: str, pythonpath: str) -> None:
    assert filter_path(["/script", here, "/a"], pythonpath) == ["/script", "/a"]


def test_a_folder_that_is_named_is_kept(here: str) -> None:
    assert filter_path(["", here, "/a"], here) == [here, "/a"]
    assert filter_path([here, here], f"{here}:") == [here, here]
    below = f"{here}/plugins"
    assert filter_path(["", below], "plugins") == [below], "Python has made it absolute"


def test_a_current_folder_that_was_deleted_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert filter_path(["", "/a"], ":") == ["/a"]
    monkeypatch.setattr(sys, "path", ["", "/a"])
    assert list(TrustedPath().refused.values()) == ["the current folder is not trusted"]


def test_the_path_is_put_back_with_what_was_added(
    here: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", ["", "/a", "/b"])
    trusted = TrustedPath()
    for _ in range(2):
        with trusted as path:
            assert path is sys.path and "" not in path and "/b" in path
            if "/added" not in path:
                path.append("/added")
    assert sys.path == ["", "/a", "/b", "/added"]
    assert trusted.refused == {here: "the current folder is not trusted"}


def test_what_others_can_write_to_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setattr(sys, "path", ["/a", str(shared)])
    trusted = TrustedPath()
    with trusted as path:
        assert str(shared) not in path
    assert "can be written to by everyone" in trusted.refused[str(shared)]
    assert str(shared) in usual_path() and str(shared) in sys.path
