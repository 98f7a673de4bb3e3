"""The trust rule for paths: the implementations in Python and C++ agree."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from cffi import FFI

from diopi_proto.trust import Installation, why_untrusted

Compile = Callable[..., Path]
OTHER = 54321
"""User and group id without an account."""


class Place:
    """Folder of an installation, and paths around it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.installation = self.folder("site/package", 0o755)

    def folder(self, name: str, mode: int) -> Path:
        made = self.root
        for part in name.split("/"):
            made = made / part
            made.mkdir(exist_ok=True)
            made.chmod(0o755)
        made.chmod(mode)
        return made

    def file(self, name: str, mode: int = 0o644) -> Path:
        path = self.root / name
        path.touch()
        path.chmod(mode)
        return path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    tmp_path.chmod(0o755)
    return Place(tmp_path)


@pytest.fixture(scope="session")
def trusts(build: Compile) -> Callable[[Path, str], bool]:
    """Return True if both implementations trust a path; they must agree."""
    ffi = FFI()
    ffi.cdef("int fixture_trusts(const char* installation, const char* path);")
    library = ffi.dlopen(str(build("trust.cpp", exports=("fixture_*",))))

    def both(installation: Path, path: str) -> bool:
        reason = why_untrusted(path, Installation.at(installation))
        native = bool(library.fixture_trusts(str(installation).encode(), path.encode()))
        assert native == (reason is None), reason
        return native

    return both


Trusts = Callable[[Path, str], bool]


def test_the_users_own_folders_are_trusted(place: Place, trusts: Trusts) -> None:
    place.folder("other/lib", 0o755)
    assert trusts(place.installation, str(place.file("other/lib/libx.so")))
    assert trusts(place.installation, "/usr/lib")


@pytest.mark.parametrize("mode", [0o777, 0o757], ids=["all", "others"])
def test_a_folder_that_everyone_can_write_to_is_not(
    place: Place, trusts: Trusts, mode: int
) -> None:
    place.folder("open/own", 0o755)
    place.folder("open", mode)
    assert not trusts(place.installation, str(place.file("open/libx.so")))
    assert not trusts(place.installation, str(place.file("open/own/libx.so")))


def test_a_file_that_everyone_can_write_to_is_not(place: Place, trusts: Trusts) -> None:
    assert not trusts(place.installation, str(place.file("libx.so", 0o666)))


def test_own_files_in_a_sticky_folder_are_trusted(place: Place, trusts: Trusts) -> None:
    place.folder("tmp", 0o1777)
    place.folder("tmp/mine", 0o755)
    assert trusts(place.installation, str(place.file("tmp/libx.so")))
    assert trusts(place.installation, str(place.file("tmp/mine/libx.so")))


def test_links_are_judged_by_where_they_lead(place: Place, trusts: Trusts) -> None:
    place.folder("open", 0o777)
    place.file("open/libx.so")
    (place.root / "absolute").symlink_to(place.root / "open")
    (place.root / "relative").symlink_to("site/../open/libx.so")
    (place.root / "loop").symlink_to("loop")
    assert not trusts(place.installation, f"{place.root}/absolute/libx.so")
    assert not trusts(place.installation, f"{place.root}/relative")
    assert not trusts(place.installation, f"{place.root}/loop")
    (place.root / "good").symlink_to("site/package")
    assert trusts(place.installation, f"{place.root}/good/../package/./")


def test_a_relative_path_is_never_trusted(
    place: Place, trusts: Trusts, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.file("libx.so")
    monkeypatch.chdir(place.root)
    assert not trusts(place.installation, "libx.so")
    assert not trusts(place.installation, "./libx.so")
    assert not trusts(place.installation, "")


def test_folders_above_the_installation_are_taken_as_they_are(place: Place, trusts: Trusts) -> None:
    (place.root / "site").chmod(0o777)
    assert trusts(place.installation, str(place.file("site/package/libx.so")))
    place.folder("site/neighbour", 0o777)
    assert not trusts(place.installation, str(place.file("site/neighbour/libx.so")))


def test_an_installation_open_to_all_trusts_what_is_open_to_all(
    place: Place, trusts: Trusts
) -> None:
    place.installation.chmod(0o777)
    place.folder("open", 0o777)
    assert trusts(place.installation, str(place.file("open/libx.so")))


def test_what_is_missing_is_trusted_unless_others_could_make_it(place: Place) -> None:
    own = Installation.at(place.installation)
    place.folder("tmp", 0o1777)
    assert why_untrusted(place.root / "nothing" / "libx.so", own) is None
    reason = why_untrusted(place.root / "tmp" / "nothing" / "libx.so", own)
    assert (
        reason is not None and "other users could create it" in reason and "tmp/nothing" in reason
    )


def test_what_another_user_owns_is_not_trusted(place: Place) -> None:
    """Judged as another user with a copy of the installation."""
    if os.geteuid() == 0:
        os.chown(place.root, OTHER, OTHER)
    own = Installation("/nowhere", frozenset({0, 1}), frozenset({0}), False)
    reason = why_untrusted(place.root, own)
    assert reason is not None and "belongs to user" in reason


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
class TestOwners:
    """Cases that depend on other users and groups, with a fake stat."""

    def test_others_files_in_a_sticky_folder_are_not_trusted(
        self, place: Place, trusts: Trusts
    ) -> None:
        place.folder("tmp", 0o1777)
        path = place.file("tmp/libx.so")
        os.chown(path, OTHER, OTHER)
        assert not trusts(place.installation, str(path))
        link = place.root / "tmp" / "link"
        link.symlink_to(place.installation)
        os.lchown(link, OTHER, OTHER)
        assert not trusts(place.installation, str(link))

    def test_the_owner_of_the_installation_is_trusted(self, place: Place, trusts: Trusts) -> None:
        path = place.file("libx.so")
        os.chown(path, OTHER, OTHER)
        assert not trusts(place.installation, str(path))
        os.chown(place.installation, OTHER, OTHER)
        assert trusts(place.installation, str(path))

    def test_a_group_is_trusted_that_can_write_to_the_installation(
        self, place: Place, trusts: Trusts
    ) -> None:
        folder = place.folder("team", 0o775)
        os.chown(folder, 0, OTHER)
        assert not trusts(place.installation, str(place.file("team/libx.so")))
        os.chown(place.installation, 0, OTHER)
        assert not trusts(place.installation, str(folder))
        place.installation.chmod(0o775)
        assert trusts(place.installation, str(folder))

    def test_roots_group_is_trusted(self, place: Place, trusts: Trusts) -> None:
        assert trusts(place.installation, str(place.folder("shared", 0o775)))
