"""Builds the library by the contract's rules; everything else is in pyproject.toml."""

import runpy
from pathlib import Path

from setuptools import setup

from diopi_proto.build import VendorLibrary, build_vendor_library
from dl_vendor_kit import include_dir

VERSION = runpy.run_path("src/dl_vendor___chip__/__init__.py")["__version__"]

setup(
    ext_modules=[
        VendorLibrary(
            "dl_vendor___chip__.lib.libdl_vendor___chip__",
            sources=sorted(str(x) for x in Path("csrc").iterdir() if x.suffix in (".c", ".cpp")),
            depends=sorted(map(str, Path("csrc").glob("*.h"))),
            include_dirs=["csrc", str(include_dir())],
            define_macros=[("VENDOR_VERSION", f'"{VERSION}"')],
            extra_compile_args=["-O2", "-Wall", "-Wextra", "-pthread"],
            # The stand-in runs threads, whose code must stay mapped when a host closes the library.
            extra_link_args=["-pthread", "-Wl,-z,nodelete"],
        )
    ],
    cmdclass={"build_ext": build_vendor_library},
)
