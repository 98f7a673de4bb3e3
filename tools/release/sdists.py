"""Sdists: each builds the same wheel as the repository, alone and with build isolation."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

from tools.build_wheels import DIST
from tools.projects import ROOT, Project

from .process import run

# Time of all files in sdists and wheels, so that a second build gives the same bytes: the last
# commit's.
EPOCH = "SOURCE_DATE_EPOCH"


@cache
def commit_time() -> str:
    """Return the time of the last commit in seconds; that of 2026 outside of a git checkout."""
    command = ["git", "log", "-1", "--format=%ct"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "1767225600"


def _run(command: list[str], folder: Path) -> None:
    """Run a build in a folder, which is made, with the wheels of ``dist/`` as an index."""
    folder.mkdir(parents=True, exist_ok=True)
    links = f"{DIST} {os.environ.get('PIP_FIND_LINKS', '')}".strip()
    run(
        *command,
        folder=folder,
        variables={**os.environ, EPOCH: commit_time(), "PIP_FIND_LINKS": links},
    )


def build_sdist(project: Project, target: Path) -> Path:
    """Build the sdist of a project from a copy of its sources; return its path.

    A copy, because setuptools reads an earlier ``egg-info`` in the sources.

    :raises ReleaseError: the build fails.
    """
    copy = target / "sources" / project.name
    shutil.rmtree(copy, ignore_errors=True)
    ignored = shutil.ignore_patterns("build", "*.egg-info", "__pycache__", "*.so", "*.so.*")
    shutil.copytree(project.folder, copy, ignore=ignored)
    out = target / "sdists"
    prefix = f"{project.name.replace('-', '_')}-"
    for old in out.glob(f"{prefix}*.tar.gz"):
        old.unlink()
    command = [sys.executable, "-m", "build", "--sdist", "--outdir", str(out), str(copy)]
    _run(command, target)
    (made,) = out.glob(f"{prefix}*.tar.gz")
    return made


def build_wheel(sdist: Path, target: Path) -> Path:
    """Build a wheel from an sdist alone, with build isolation; return its path.

    pip unpacks the sdist in a folder of its own, where nothing else of the repository is. Build
    requirements that this repository provides come from ``dist/``.

    :raises ReleaseError: the build fails.
    """
    out = target / "wheels" / sdist.name.removesuffix(".tar.gz")
    shutil.rmtree(out, ignore_errors=True)
    options = ("--no-deps", "--no-cache-dir", "--wheel-dir", str(out))
    _run([sys.executable, "-m", "pip", "wheel", *options, str(sdist)], target)
    (wheel,) = out.glob("*.whl")
    return wheel


def differences(wheel: Path, other: Path) -> list[str]:
    """Return the files of which only one of two wheels has one, or whose bytes differ."""
    with zipfile.ZipFile(wheel) as first, zipfile.ZipFile(other) as second:
        names, others = set(first.namelist()), set(second.namelist())
        same = {x for x in names & others if first.read(x) == second.read(x)}
    return sorted((names | others) - same)
