"""Output files of commands: never replaced without consent, and never incomplete."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from dl_core.errors import OutputError
from dl_core.files import add_force, check_free, write, write_text


def test_a_file_is_written_with_the_folders_above_it(tmp_path: Path) -> None:
    write_text(tmp_path / "a" / "b" / "c.json", "text", force=False)
    assert [str(x.relative_to(tmp_path)) for x in tmp_path.rglob("*")] == ["a", "a/b", "a/b/c.json"]
    assert (tmp_path / "a" / "b" / "c.json").read_text() == "text"


@pytest.mark.parametrize("kind", ["file", "link", "dangling link"])
def test_what_is_there_stays_unless_it_is_asked_for(kind: str, tmp_path: Path) -> None:
    path, other = tmp_path / "x.json", tmp_path / "other"
    if kind != "dangling link":
        other.write_text("kept")
    if kind == "file":
        other.rename(path)
    else:
        path.symlink_to(other)
    with pytest.raises(OutputError, match=r"x\.json exists; --force replaces it"):
        write_text(path, "new", force=False)
    assert not path.exists() or path.read_text() == "kept"
    write_text(path, "new", force=True)
    assert path.read_text() == "new"
    # A link is replaced, and not its target.
    assert not other.exists() or other.read_text() == "kept"


def test_what_fails_on_the_way_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("kept")

    def fill(made: Path) -> None:
        made.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match=r"x\.json cannot be written: No space left on device"):
        write(path, fill, force=True)
    assert [x.name for x in tmp_path.iterdir()] == ["x.json"]
    assert path.read_text() == "kept"


def test_what_cannot_be_written_is_known_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"x\.json .* .*file is not a writable folder"):
        check_free([tmp_path / "free.json", tmp_path / "file" / "x.json"], force=False)
    with pytest.raises(OutputError, match=r"is a folder; name a file"):
        check_free([tmp_path], force=True)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match=r"pipe is a device or a pipe .*; name a file"):
        write(tmp_path / "pipe", Path.touch, force=True)
    assert {x.name for x in tmp_path.iterdir()} == {"file", "pipe"}


def test_the_option_is_called_force() -> None:
    parser = argparse.ArgumentParser()
    add_force(parser)
    assert not parser.parse_args([]).force and parser.parse_args(["--force"]).force
