"""Whether code may be loaded from a path: one rule for libraries, plugins, and what they keep.

A path is trusted if everyone who can put something there could change this installation anyway:

- Whatever is on the way to it, links included, belongs to root, to the user of this process, or to
  the owner of this installation (of this package's folder, and of the interpreter).
- Nobody else may write to it. A group may if it is root's, if the installation is writable to the
  same group, or if it is the user's private one, which has the user's own number.
- In a folder with the sticky bit everyone may make files, but nobody can touch those of others:
  what is there is judged by its owner, and what is not there yet anyone could make.
- The folders that this installation itself lies in are taken as they are: who can write there has
  no need of anything else.
- It is absolute: the current folder is nobody's choice.

``dl/trust.hpp`` is the same rule for libraries that need no Python.
"""

# ruff: noqa: PTH100, PTH115, PTH116, PTH120 - taken apart as the kernel does, and often

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

_LINKS = 40
"""As many links in one path as the kernel follows."""


class Installation:
    """What is trusted because it could change us anyway.

    :ivar folder: where the code is, without links.
    :ivar open_to_all: everyone can write to it.
    """

    def __init__(
        self, folder: str, owners: frozenset[int], groups: frozenset[int], open_to_all: bool
    ) -> None:
        self.folder = folder
        self.owners = owners
        self.groups = groups
        self.open_to_all = open_to_all

    @classmethod
    def at(cls, folder: str | Path, *more_owners: int) -> Installation:
        """The one whose code is in ``folder``, run by the user of this process."""
        user = os.geteuid()
        status = os.stat(folder)
        groups = {0} | ({status.st_gid} if status.st_mode & stat.S_IWGRP else set())
        if os.getegid() == user:
            groups.add(user)
        return cls(
            os.path.realpath(folder),
            frozenset({0, user, status.st_uid, *more_owners}),
            frozenset(groups),
            bool(status.st_mode & stat.S_IWOTH),
        )

    def inside(self, folder: str) -> bool:
        """Return True if the installation is in ``folder``."""
        return self.folder == folder or self.folder.startswith(f"{folder}/")


@lru_cache(maxsize=1)
def this_installation() -> Installation:
    """The one that this module belongs to, and the interpreter that runs it."""
    ours = os.path.dirname(os.path.abspath(__file__))
    try:
        return Installation.at(ours, os.stat(sys.executable).st_uid)
    except OSError:  # an embedded interpreter may have no program of its own
        return Installation.at(ours)


def why_untrusted(path: str | Path, installation: Installation | None = None) -> str | None:
    """Why nothing must be loaded from ``path``, as a sentence that names the folder; None: it may.

    A path that does not exist is trusted if nobody else could make it.
    """
    path = os.fspath(path)
    if not path.startswith("/"):
        return f"{path} is relative, so what it means depends on the current folder"
    installation = installation or this_installation()
    parent = None
    try:
        for place, status in _way(path):
            if status is None:
                if parent is not None and _writers(parent, installation, sticky=False):
                    return f"{place} does not exist, and others could make it"
                return None
            if not installation.inside(place):
                reason = _judge(place, status, installation)
                if reason is not None:
                    return reason
            parent = status
    except OSError as error:
        return f"{path} cannot be examined: {error.strerror}"
    except ValueError as error:
        return f"{path!r} is not a path: {error}"
    return None


def _judge(place: str, status: os.stat_result, installation: Installation) -> str | None:
    if status.st_uid not in installation.owners:
        return f"{place} belongs to user {status.st_uid}, neither root nor the one who runs this"
    if stat.S_ISLNK(status.st_mode):  # its own bits mean nothing
        return None
    who = _writers(status, installation, sticky=True)
    return f"{place} can be written to by {who}" if who else None


def _writers(status: os.stat_result, installation: Installation, *, sticky: bool) -> str:
    """Return who else can write; empty if no other user can."""
    mode = status.st_mode
    if sticky and stat.S_ISDIR(mode) and mode & stat.S_ISVTX:
        return ""
    if mode & stat.S_IWOTH and not installation.open_to_all:
        return "everyone"
    if mode & stat.S_IWGRP and status.st_gid not in installation.groups:
        return f"group {status.st_gid}"
    return ""


def _way(path: str) -> Iterator[tuple[str, os.stat_result | None]]:
    """All that the kernel passes on the way to ``path``; ends at what does not exist, with None."""
    here, rest, links = "", path.split("/"), 0
    while rest:
        part = rest.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            here = here.rpartition("/")[0]
            continue
        place = f"{here}/{part}"
        try:
            status = os.lstat(place)
        except FileNotFoundError:
            yield place, None
            return
        yield place, status
        if not stat.S_ISLNK(status.st_mode):
            here = place
            continue
        links += 1
        if links > _LINKS:
            raise ValueError("too many links")
        target = os.readlink(place)
        if target.startswith("/"):
            here = ""
        rest = target.split("/") + rest
