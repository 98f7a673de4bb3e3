"""Build the fake libascendcl.so, on whose devices the other fakes of CANN's libraries work."""

from __future__ import annotations

from pathlib import Path

import building

from diopi_proto import include_dir as contract_dir

HERE = Path(__file__).parent
PACKAGES = HERE.parents[4]
FOLDERS = (
    PACKAGES / "vendor-ascend" / "csrc",
    PACKAGES / "vendor-kit" / "include",
    contract_dir(),
)
"""Folders of headers: the vendor's declarations of CANN's functions, and what they include."""


def build_runtime(folder: Path, *flags: str) -> Path:
    """Build the runtime and return its path, ``<folder>/libascendcl.so``."""
    sources = sorted(HERE.glob("*.cpp"))
    return building.build_library(folder / "libascendcl.so", sources, FOLDERS, *flags)


def build_hccl(folder: Path, *flags: str, runtime: Path) -> Path:
    """Build the library of collectives and return its path, ``<folder>/libhccl.so``."""
    sources = sorted((HERE.parent / "hccl").glob("*.cpp"))
    target = folder / "libhccl.so"
    return building.build_library(target, sources, FOLDERS, *flags, str(runtime))
