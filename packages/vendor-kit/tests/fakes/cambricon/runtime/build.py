"""Build the fake libcnrt.so, on whose devices the fake libcnnl works."""

from __future__ import annotations

from pathlib import Path

import building

from diopi_proto import include_dir as contract_dir

HERE = Path(__file__).parent
PACKAGES = HERE.parents[4]
FOLDERS = (
    PACKAGES / "vendor-cambricon" / "csrc",
    PACKAGES / "vendor-kit" / "include",
    contract_dir(),
)
"""Folders of headers: the vendor's declarations of the runtime, and what they include."""


def build_runtime(folder: Path, *flags: str) -> Path:
    """Build the runtime and return its path, ``<folder>/libcnrt.so``."""
    sources = sorted(HERE.glob("*.cpp"))
    return building.build_library(folder / "libcnrt.so", sources, FOLDERS, *flags)
