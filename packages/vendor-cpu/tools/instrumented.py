"""Build of this vendor's library for this processor with compiler instrumentation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diopi_proto.build import compile_library
from dl_kernels import include_dir, write_units
from dl_vendor_cpu import __version__
from dl_vendor_cpu.levels import ARCHITECTURES, known_levels, levels_here

VENDOR = Path(__file__).parents[1]
ROOT = VENDOR.parents[1]
KIT = ROOT / "packages/vendor-kit/include"


def build(folder: Path, flags: Sequence[str], link_flags: Sequence[str]) -> Path:
    """Compile the library into a folder, and return its path."""
    level = (levels_here() or known_levels())[0]
    name = ARCHITECTURES.get(level, level)
    return compile_library(
        folder / "libdl_vendor_cpu.so",
        [*write_units(folder / "units"), *sorted((VENDOR / "csrc").rglob("*.cpp"))],
        include_dirs=[VENDOR / "csrc", include_dir(), KIT],
        compile_flags=[
            *flags,
            *((f"-march={name}",) if level in ARCHITECTURES else ()),
            f'-DDL_CPU_ISA="{name}"',
            f'-DDL_CPU_VERSION="{__version__}"',
        ],
        link_flags=link_flags,
        build_dir=folder,
        check=False,
    )
