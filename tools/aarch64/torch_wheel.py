"""torch for aarch64 in the root filesystem."""

from __future__ import annotations

import importlib.metadata
import zipfile
from email.parser import Parser
from pathlib import Path

from tools.projects import normalize_name

from . import stand_ins
from .errors import SessionError, UnavailableError
from .packages import CONSTRAINTS, PIP, pip_install, platform_options
from .root import PYTHON, Root, run

# Requirements that only a GPU uses; several GB.
FOR_GPUS = ("cuda-", "nvidia-", "triton")


def download(requirement: str, folder: Path) -> Path:
    """Download the wheel unless it is there.

    :raises UnavailableError: the index has no such wheel.
    """
    pattern = f"{requirement.replace('==', '-')}*.whl"
    if not (found := sorted(folder.glob(pattern))):
        options = ("--quiet", "--no-deps", "--dest", str(folder), *platform_options())
        try:
            run(*PIP, "download", *options, requirement)
        except SessionError as error:
            raise UnavailableError(f"no wheel of {requirement} for aarch64: {error}") from error
        found = sorted(folder.glob(pattern))
    return found[-1]


def requirements(metadata: str) -> list[str]:
    """Return the requirements of a wheel from its metadata, without extras and those for GPUs."""
    every = Parser().parsestr(metadata).get_all("Requires-Dist") or []
    kept = [x for x in every if "extra ==" not in x]
    return [x for x in kept if not normalize_name(x).startswith(FOR_GPUS)]


def install(root: Root, wheel: Path) -> dict[str, int]:
    """Install torch with its requirements, and stand-ins for libraries that a GPU would need.

    :returns: the numbers of functions in the stand-ins, by name.
    """
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (x for x in archive.namelist() if x.endswith(".dist-info/METADATA"))
        needed = requirements(archive.read(name).decode())
    pip_install(root, "--constraint", str(CONSTRAINTS), *needed)
    pip_install(root, "--no-deps", "--no-index", str(wheel))
    system = root.path / "usr" / "lib" / "aarch64-linux-gnu"
    python = root.path / "usr" / "bin" / PYTHON
    return stand_ins.write(root.packages / "torch" / "lib", system, [python])


def installed(root: Root) -> str | None:
    """Return the version of torch in the root filesystem, None if there is none."""
    found = importlib.metadata.distributions(name="torch", path=[str(root.packages)])
    return next((each.version for each in found), None)
