"""Build vendor libraries: plain C shared libraries that can share a process with any other.

In a vendor's ``setup.py``::

    from diopi_proto.build import VendorLibrary, build_vendor_library

    setup(
        ext_modules=[VendorLibrary("dl_vendor_x.lib.libdl_vendor_x", sources=["csrc/plugin.cpp"])],
        cmdclass={"build_ext": build_vendor_library},
    )

The wheel then holds ``dl_vendor_x/lib/libdl_vendor_x.so`` and is tagged ``py3-none-<platform>``.
:func:`compile_library` does the same without setuptools; :func:`check_library` checks a finished
file. A :class:`DeviceCompiler` compiles device sources by their suffix, for example with nvcc.
CMake projects include ``diopi_proto.cmake_dir() / "dl-vendor.cmake"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .vendorbuild.check import check_library
from .vendorbuild.compiler import compile_library
from .vendorbuild.device import DeviceCompiler

if TYPE_CHECKING:
    from .vendorbuild.command import VendorLibrary, build_vendor_library

__all__ = [
    "DeviceCompiler",
    "VendorLibrary",
    "build_vendor_library",
    "check_library",
    "compile_library",
]


def __getattr__(name: str) -> object:
    # setuptools is only installed where wheels are built.
    if name in ("VendorLibrary", "build_vendor_library"):
        from .vendorbuild import command

        return getattr(command, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
