"""Trust rule for loading code from a path: for libraries, plugins, and their cached files.

A path is trusted if every user who can write there could change this installation anyway:

- Every component of the path, including symbolic links, belongs to root, to the user of this
  process, or to the owner of this installation (of this package's folder and the interpreter).
- No other user can write to it. Write permission for a group is accepted if the group is root's, if
  the installation is writable by the same group, or if it is the user's private group, whose id is
  the user's id.
- In a folder with the sticky bit, every user can create files but not replace other users' files:
  an existing entry is judged by its owner; a missing entry is not trusted, since anyone could
  create it.
- The parent folders of this installation are trusted, because a user who can write there can
  replace the installation itself.
- The path is absolute, because the user may not have chosen the current folder.

``dl/trust.hpp`` implements the same rule for libraries, without Python.
"""

# ruff: noqa: PTH100, PTH115, PTH116, PTH120 - resolved as the kernel does, and often

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

_LINKS = 40
"""Maximum number of symbolic links in one path that the kernel follows."""


class Installation:
    """An installation and the users who can change it.

    :ivar folder: folder of the code, with symbolic links resolved.
    :ivar open_to_all: every user can write to it.
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
        """Return the installation in ``folder``, run by the user of this process."""
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
    """Return the installation of this module and of the running interpreter."""
    ours = os.path.dirname(os.path.abspath(__file__))
    try:
        return Installation.at(ours, os.stat(sys.executable).st_uid)
    except OSError:  # an embedded interpreter may have no executable
        return Installation.at(ours)


def why_untrusted(path: str | Path, installation: Installation | None = None) -> str | None:
    """Return why ``path`` is not trusted, as a sentence that names the folder; None if it is.

    A path that does not exist is trusted if no other user could create it.
    """
    path = os.fspath(path)
    if not path.startswith("/"):
        return f"{path} is relative, so it depends on the current folder; use an absolute path"
    installation = installation or this_installation()
    parent = None
    try:
        for place, status in _way(path):
            if status is None:
                if parent is not None and _writers(parent, installation, sticky=False):
                    return f"{place} does not exist, and other users could create it"
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
        return f"{place} belongs to user {status.st_uid}, neither root nor the user of this process"
    if stat.S_ISLNK(status.st_mode):  # permission bits of links are ignored
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
    """Yield every component that the kernel visits to resolve ``path``; None if one is missing."""
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
