"""The environments of sessions, and the wheels that they contain."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import nox

from . import requirements
from .requirements import CONSTRAINTS_FILE, ROOT
from .vendors import libraries

DIST = ROOT / "dist"
BUILD = ROOT / "build"
# Checks of `import torch` before and after the first vendor wheel is installed.
WITHOUT_VENDOR = """
import torch
assert torch._C._get_privateuse1_backend_name() == "privateuseone", "dl registered without a vendor"
assert torch.accelerator.current_accelerator() is None
"""
WITH_VENDOR = """
import torch
assert torch.randn(3, device="dl").device == torch.device("dl", 0)
"""
AUTOLOAD_OFF = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
# Prints why the installed torchvision does not fit the installed torch; nothing if it does.
MISFIT_OF_TORCHVISION = """
try:
    import torchvision
except Exception as error:
    print(f"{type(error).__name__}: {error}")
"""


def python_of(session: nox.Session, environment: str) -> str:
    """Return the interpreter of another session's environment."""
    return str(session.cache_dir.parent / environment / "bin" / "python")


def wheels() -> list[Path]:
    return sorted(DIST.glob("*.whl"))


def wheels_of(names: Iterable[str]) -> list[Path]:
    """Return the wheels of dist/ that belong to these distributions."""
    prefixes = tuple(f"{name.replace('-', '_')}-" for name in names)
    return [path for path in wheels() if path.name.startswith(prefixes)]


def state_of(installed: Iterable[Path]) -> str:
    """Return a hash of everything that determines an environment with these wheels."""
    state = hashlib.sha256()
    for path in (CONSTRAINTS_FILE, ROOT / "noxfile.py", Path(requirements.__file__)):
        state.update(path.read_bytes())
    state.update(repr(libraries()).encode())
    for wheel in installed:
        state.update(wheel.name.encode() + wheel.read_bytes())
    return state.hexdigest()


def is_current(stamp: Path, installed: Iterable[Path]) -> bool:
    """Return True if the environment of a stamp was made from these wheels."""
    return stamp.exists() and stamp.read_text() == state_of(installed)


def whole_environment(session: nox.Session) -> Path:
    """Return the stamp of the environment with all wheels."""
    return session.cache_dir.parent / "environment" / "stamp"


def remove_our_packages(session: nox.Session) -> None:
    """Uninstall our packages, because pip would keep an equal version with different content."""
    metadata = session.env_dir.glob("lib/python*/site-packages/dl_*.dist-info")
    names = [path.name.split("-")[0] for path in metadata]
    if names:
        session.run("python", "-m", "pip", "uninstall", "--quiet", "--yes", *names)


def find_nvcc(folder: Path) -> str | None:
    """Return the nvcc of the machine, else that of NVIDIA's wheels next to an interpreter."""
    of_wheels = sorted(folder.parent.glob("lib/python*/site-packages/nvidia/cu*/bin/nvcc"))
    named = os.environ.get("NVCC") or shutil.which("nvcc")
    return named or (str(of_wheels[-1]) if of_wheels else None)
