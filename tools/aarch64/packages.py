"""Python packages of the index in the root filesystem.

pip runs on the machine itself, because it takes minutes by emulation.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from tools.projects import ROOT, Project, in_build_order, normalize_name

from .root import PYTHON, Root, run

CONSTRAINTS = ROOT / "constraints.txt"
SCRIPTS = "bin"
# pip derives older platforms from a tag only for the machine that it runs on.
GLIBC = ("2_36", "2_34", "2_28", "2_27", "2_26", "2_24", "2_17")
PLATFORMS = (*(f"manylinux_{x}_aarch64" for x in GLIBC), "manylinux2014_aarch64", "linux_aarch64")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


def platform_options() -> list[str]:
    """Return pip's options that select wheels for the root filesystem."""
    python = ("--implementation", "cp", "--python-version", PYTHON.removeprefix("python"))
    platforms = [option for each in PLATFORMS for option in ("--platform", each)]
    return ["--only-binary", ":all:", *python, *platforms]


def pip_install(root: Root, *arguments: str) -> None:
    """Install into the root filesystem, replacing packages that are there.

    :raises SessionError: the index lacks a wheel, or two requirements conflict.
    """
    # pip would replace the folder of scripts as a whole.
    fresh = Path(tempfile.mkdtemp(prefix="packages-", dir=root.packages.parent))
    options = ("--quiet", "--target", str(fresh), *platform_options())
    run(*PIP, "install", *options, *arguments)
    merge(fresh, root.packages)


def merge(fresh: Path, packages: Path) -> None:
    """Move installed packages to a folder, replacing those of the same names; keep its scripts.

    Equal files keep their times, so that objects that were built with a header are not built again.
    """
    (packages / SCRIPTS).mkdir(parents=True, exist_ok=True)
    for each in [*fresh.iterdir(), *(fresh / SCRIPTS).glob("*")]:
        if each.name == SCRIPTS:
            continue
        target = packages / each.relative_to(fresh)
        if target.is_dir():
            _keep_times(each, target)
            shutil.rmtree(target)
        each.replace(target)
    shutil.rmtree(fresh)


def _keep_times(fresh: Path, old: Path) -> None:
    for path in fresh.rglob("*"):
        before = old / path.relative_to(fresh)
        if path.is_file() and before.is_file() and filecmp.cmp(path, before, shallow=False):
            os.utime(path, ns=(before.stat().st_atime_ns, before.stat().st_mtime_ns))


def install_requirements(root: Root, requirements: Iterable[str]) -> bool:
    """Install distributions of the index with their requirements, unless they are there.

    :returns: True if they were installed now.
    """
    wanted = sorted(set(requirements))
    state = repr((wanted, CONSTRAINTS.read_text(encoding="utf-8")))
    stamp = root.path / "requirements"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == state:
        return False
    stamp.unlink(missing_ok=True)
    pip_install(root, "--constraint", str(CONSTRAINTS), *wanted)
    stamp.write_text(state, encoding="utf-8")
    return True


def foreign_requirements(projects: Sequence[Project]) -> list[str]:
    """Return what projects need for their build and their run, without each other and torch."""
    ours = {project.name for project in in_build_order()} | {"torch"}
    every = {x for project in projects for x in (*project.build_requires, *project.requires)}
    return sorted(x for x in every if normalize_name(x) not in ours)
