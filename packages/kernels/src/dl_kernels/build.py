"""Vendor libraries with kernels, for a vendor's setup.py.

from dl_kernels.build import KernelLibrary, build_kernel_library

setup(ext_modules=[KernelLibrary("dl_vendor_x.lib.libdl_vendor_x", sources=["csrc/plugin.cpp"])],
      cmdclass={"build_ext": build_kernel_library})
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from diopi_proto.build import VendorLibrary, build_vendor_library

from ._paths import include_dir
from .units import write_units

__all__ = ["KernelLibrary", "build_kernel_library", "chosen_families"]

TOGETHER = "DL_BUILD_TOGETHER"
"""Environment variable: number of families per unit (default: 4); use 1 when editing kernels."""


def chosen_families(variable: str) -> list[str] | None:
    """Return the families that an environment variable names, separated by commas; None: all."""
    chosen = os.environ.get(variable)
    return chosen.split(",") if chosen else None


class KernelLibrary(VendorLibrary):
    """A vendor library with the kernels of some families, or of all.

    :param families: names of families; the families that they use are added. None: all.
    :param diopi_convention: export operators by their names, and follow the rules for such
        libraries.
    :param options: options of :class:`diopi_proto.build.VendorLibrary`. With a
        ``device_compiler``, the families are units with its suffix; the list of operators is C++.
    """

    def __init__(
        self,
        name: str,
        sources: list[str],
        *,
        families: Iterable[str] | None = None,
        diopi_convention: bool = False,
        **options: Any,
    ) -> None:
        folders = [*options.pop("include_dirs", ()), str(include_dir())]
        headers = (str(path) for path in include_dir().rglob("*") if path.is_file())
        depends = [*options.pop("depends", ()), *headers]
        macros = [*options.pop("define_macros", ())]
        if diopi_convention:
            macros.append(("DIOPIRT_EXTERN", None))
            options.setdefault("exports", ("diopi*", "dlop*"))
            options.setdefault("legacy", True)
        super().__init__(
            name,
            sources=sources,
            include_dirs=folders,
            depends=depends,
            define_macros=macros,
            **options,
        )
        self.families = None if families is None else tuple(families)
        self.diopi_convention = diopi_convention
        # A machine header of the vendor's own may emulate a GPU, whose kernels are C++ then.
        own_machine = any(name == "DL_KERNELS_MACHINE" for name, _ in macros)
        self.gpu = self.device_compiler is not None or own_machine


class build_kernel_library(build_vendor_library):  # noqa: N801 - setuptools' naming
    """``build_ext`` that writes the units of a :class:`KernelLibrary` to the build folder."""

    def build_extension(self, ext: Any) -> None:
        if isinstance(ext, KernelLibrary):
            folder = Path(self.build_temp) / "kernels" / ext.name
            compiler = ext.device_compiler
            units = write_units(
                folder,
                suffix=".cpp" if compiler is None else compiler.suffix,
                only=ext.families,
                diopi_convention=ext.diopi_convention,
                gpu=ext.gpu,
                together=int(os.environ.get(TOGETHER, "4")),
            )
            ext.sources = [*ext.sources, *map(str, units)]
        super().build_extension(ext)
