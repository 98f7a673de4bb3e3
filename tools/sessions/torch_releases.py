"""Environments of torch releases, in which dl-core is built and tested, for several Pythons."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import nox
import nox.project

from tools.torch_matrix.interpreters import find_interpreter
from tools.torch_matrix.releases import Release

from .environments import AUTOLOAD_OFF, MISFIT_OF_TORCHVISION
from .requirements import CONSTRAINTS_FILE, ROOT, TEST, TRAIN


def install(session: nox.Session, release: Release, folder: Path) -> None:
    """Install a torch release, and what building and testing dl-core needs, into an environment.

    :param folder: of the environment; its constraints.txt is for later installations into it.
    """
    # Each torch release requires its own versions of NVIDIA's packages.
    every = CONSTRAINTS_FILE.read_text().splitlines()
    pins = [x for x in every if not x.startswith(("torch==", "nvidia-"))]
    metadata = nox.project.load_toml(ROOT / "packages" / "core" / "pyproject.toml")
    requires = metadata["build-system"]["requires"]
    own = [x for x in requires if not x.startswith(("torch==", "dl-"))]
    wanted = [f"torch=={release.name}", "wheel", *own, *TRAIN, *TEST]
    state = repr((pins, wanted, release.torchvision))
    stamp = folder / "stamp"
    if stamp.exists() and stamp.read_text() == state:
        session.log(f"torch {release.name} is installed already")
        return
    stamp.unlink(missing_ok=True)
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(pins))
    python = str(folder / "bin" / "python")

    def pip(*arguments: str) -> None:
        session.run(python, "-m", "pip", *arguments, external=True)

    pinned = ("install", "--constraint", str(constraints))
    pip(*pinned, *wanted)
    # The index may have torchvision for another build of this torch release only.
    pip(*pinned, wanted[0], f"torchvision=={release.torchvision}")
    command = (python, "-c", MISFIT_OF_TORCHVISION)
    misfit = session.run(*command, env=AUTOLOAD_OFF, silent=True, external=True)
    if misfit:
        session.log(f"done without torchvision {release.torchvision}: {str(misfit).strip()}")
        pip("uninstall", "--yes", "torchvision")
    stamp.write_text(state)


def further(session: nox.Session, release: Release) -> Iterator[Path]:
    """Make the environments of a release's further Pythons; yield their interpreters.

    A Python without an interpreter on this machine is left out, and named in the log.
    """
    for version in release.matrix:
        interpreter = find_interpreter(version)
        if interpreter is None:
            session.log(
                f"torch {release.name} is not tested with Python {version}: found no interpreter "
                f"python{version} in PATH or among the versions of pyenv and uv"
            )
            continue
        name = f"torch-{release.name}-py{version}".replace(".", "-")
        folder = session.cache_dir.parent / name
        if not (folder / "bin" / "python").exists():
            command = (sys.executable, "-m", "virtualenv", "--quiet", "--python", str(interpreter))
            session.run(*command, str(folder), external=True)
        install(session, release, folder)
        yield folder / "bin" / "python"
