"""Foreign files that are not regular, or are too large, are rejected without blocking."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from diopi_proto import foreign_file
from diopi_proto.foreign_file import (
    ForeignFileError,
    check_regular,
    open_regular,
    read_regular,
    read_regular_json,
    read_regular_text,
)


def fifo(path: Path) -> None:
    os.mkfifo(path)


def link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def bound_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


IRREGULAR: dict[str, tuple[Callable[[Path], object], str]] = {
    "a FIFO": (fifo, "is a FIFO, not a regular file"),
    "a link to an endless device": (link_to_a_device, "is a character device"),
    "a folder": (Path.mkdir, "is a folder"),
    "a socket": (bound_socket, "is a socket"),
}


@pytest.mark.parametrize("kind", IRREGULAR)
def test_what_is_not_a_regular_file_is_refused_by_name(kind: str, tmp_path: Path) -> None:
    make, said = IRREGULAR[kind]
    path = tmp_path / "given"
    make(path)
    for read in (check_regular, lambda p: read_regular(p, 10), lambda p: read_regular_text(p, 10)):
        with pytest.raises(ForeignFileError, match=said) as refusal:
            read(path)
        assert str(refusal.value).startswith(str(path))


def test_a_device_is_not_even_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: object, **__: object) -> int:
        raise AssertionError("a device was opened")

    monkeypatch.setattr(foreign_file.os, "open", opened)
    with pytest.raises(ForeignFileError, match="character device"), open_regular("/dev/zero"):
        pass


def test_a_path_that_becomes_a_fifo_is_refused_after_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "given"
    os.mkfifo(path)
    monkeypatch.setattr(foreign_file, "check_regular", lambda *_, **__: None)
    with pytest.raises(ForeignFileError, match="is a FIFO"):
        read_regular(path, 10)


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_bytes(b"0123456789")
    assert read_regular(path, 10) == b"0123456789"
    with pytest.raises(ForeignFileError, match=r"given: it has 10 bytes or more; the limit is 9"):
        read_regular(path, 9)


def test_a_huge_file_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "given"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ForeignFileError, match="1,099,511,627,776 bytes"):
        read_regular(path, 1 << 20)


def test_a_file_of_the_kernel_that_has_no_size_is_read_up_to_the_bound() -> None:
    assert Path("/proc/self/pagemap").stat().st_size == 0
    with pytest.raises(ForeignFileError, match="the limit is 100,000"):
        read_regular("/proc/self/pagemap", 100_000)


def test_links_are_followed_unless_they_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "link", 10) == b"text"
    with pytest.raises(ForeignFileError, match="is a symbolic link"):
        read_regular(tmp_path / "link", 10, follow_links=False)


def test_a_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none", 10)


def test_a_text_is_read_as_pathlib_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_bytes("a\r\nb\rč\n".encode())
    assert read_regular_text(path, 100) == path.read_text(encoding="utf-8")
    path.write_bytes(b"\xff")
    with pytest.raises(UnicodeDecodeError):
        read_regular_text(path, 100)


def test_json_that_nests_too_deeply_is_a_value_error(tmp_path: Path) -> None:
    path = tmp_path / "given.json"
    path.write_text("[" * 200_000, encoding="utf-8")
    with pytest.raises(ValueError, match=r"nests too deeply|Expecting"):
        read_regular_json(path, 1 << 20)
