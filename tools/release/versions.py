"""The next version of all projects, with change logs assembled from fragments by towncrier.

A change that users notice adds ``packages/NAME/changes/ISSUE.KIND.md``, whose kinds are in
``towncrier.toml``; a name that begins with ``+`` needs no issue.
"""

from __future__ import annotations

import datetime
import re
import sys

from tools.projects import ROOT

from .declared import Declared, ReleaseError
from .process import run

VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")
_PARTS = re.compile(r"([\d.]+?)(?:(a|b|rc)(\d+))?")


def key(version: str) -> tuple[int, ...]:
    """Return what orders versions of the form of :data:`VERSION`; a final one is last."""
    release, stage, number = _PARTS.fullmatch(version).groups()  # type: ignore[union-attr]
    order = {"a": 0, "b": 1, "rc": 2, None: 3}[stage]
    return (*map(int, release.split(".")), order, int(number or 0))


def bump(projects: list[Declared], version: str, *, date: str | None = None) -> list[str]:
    """Set the version of all projects; assemble their change logs. Return the names of the files.

    :param version: a later version than that of each project, such as 0.2.0 or 1.0.0rc1.
    :param date: the day in change logs; default: today.
    :raises ReleaseError: the version is invalid or not later; nothing is written then.
    """
    if not VERSION.fullmatch(version):
        raise ReleaseError(f"[release] {version!r} is not a version such as 0.2.0 or 1.0.0rc1")
    for each in projects:
        if key(version) <= key(each.version):
            raise ReleaseError(
                f"[release] {version} is not later than {each.version} of {each.project.name}"
            )
    written = []
    for each in projects:
        file = each.version_file
        file.write_text(each.with_version(version), encoding="utf-8")
        _assemble(each, version, date or datetime.date.today().isoformat())
        written += [str(file), str(each.project.folder / "CHANGELOG.md")]
    return written


def _assemble(project: Declared, version: str, date: str) -> None:
    """Write the section of a version at the top of a change log, and delete its fragments.

    :raises ReleaseError: towncrier fails.
    """
    folder = project.project.folder
    command = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", version]
    command += ["--date", date, "--config", str(ROOT / "towncrier.toml"), "--dir", str(folder)]
    run(*command, folder=folder)
    changes = folder / "CHANGELOG.md"
    # towncrier leaves empty lines above the title.
    changes.write_text(changes.read_text(encoding="utf-8").lstrip(), encoding="utf-8")
