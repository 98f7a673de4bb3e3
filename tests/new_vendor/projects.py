"""Projects of ``dl new-vendor``: created, built and installed outside of the repository."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from core.processes import path_with

from dl_vendor_kit.project import KINDS

ALL = [(kind, memory) for kind, each in KINDS.items() for memory in each.memories]
"""Every kind with every memory that it supports."""


OPENCL_DRIVERS = Path("/etc/OpenCL/vendors")


def runs_here(kind: str) -> bool:
    """Return True if this machine has the driver that a kind of project needs."""
    return kind != "opencl" or "DL_OPENCL_DRIVER" in os.environ or any(OPENCL_DRIVERS.glob("*.icd"))


@dataclass(frozen=True)
class Project:
    """An installed project.

    :ivar name: name of the vendor.
    :ivar folder: folder of the sources.
    :ivar environ: environment in which the vendor is installed and serves ``dl:0``.
    """

    name: str
    folder: Path
    environ: dict[str, str]

    def run(self, *command: str | Path) -> str:
        """Return the output of a Python program."""
        return run([sys.executable, *command], self.folder.parent, self.environ)


def run(command: list[str | Path], folder: Path, environ: dict[str, str] | None = None) -> str:
    """Return the output of a program, which must succeed."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **(environ or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout


def install(kind: str, memory: str, folder: Path) -> Project:
    """Create a project in an empty folder, and build and install its wheel.

    :param folder: empty folder outside of the repository.
    """
    name = f"{kind}_chip"
    options = ("--kind", kind, "--memory", memory)
    said = run([sys.executable, "-m", "dl_core", "new-vendor", name, *options], folder)
    project = folder / f"dl-vendor-{kind}-chip"
    assert said.startswith(f"created {project.name};")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    # The build requirements are installed: the tests need no network.
    build = ("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", "wheels")
    run([*pip, *build, project], folder)
    (wheel,) = (folder / "wheels").glob("*.whl")
    target = folder / "target"
    run([*pip, "install", "--no-deps", "--no-index", "--target", target, wheel], folder)
    environ = {
        "PYTHONPATH": path_with(target),
        "DL_VENDORS": name,
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    return Project(name, project, environ)
