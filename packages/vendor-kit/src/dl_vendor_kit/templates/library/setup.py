"""Generates the operators from library/, and builds the vendor and the stand-in for the SDK."""

import runpy
from pathlib import Path

from setuptools import setup

from diopi_proto.build import VendorLibrary, build_vendor_library
from dl_vendor_kit import include_dir
from dl_vendor_kit.library.build import generate

VERSION = runpy.run_path("src/dl_vendor___chip__/__init__.py")["__version__"]
STAND_IN = ("sdk.c", "driver.c", "kernels.c")

generate(Path("library"))

setup(
    ext_modules=[
        VendorLibrary(
            "dl_vendor___chip__.lib.libdl_vendor___chip__",
            sources=sorted(map(str, Path("csrc").rglob("*.cpp"))),
            depends=sorted(map(str, Path("csrc").rglob("*.h"))),
            include_dirs=["csrc", str(include_dir())],
            define_macros=[("VENDOR_VERSION", f'"{VERSION}"')],
            extra_compile_args=["-O2", "-Wall", "-Wextra"],
        ),
        # Delete it when vendor.h names the SDK.
        VendorLibrary(
            "dl_vendor___chip__.lib.lib__chip___sdk",
            sources=[f"csrc/{name}" for name in STAND_IN],
            depends=sorted(map(str, Path("csrc").glob("*.h"))),
            include_dirs=["csrc"],
            exports=("__chip__*",),
            soname="lib__chip___sdk.so",
            legacy=True,
            extra_compile_args=["-O2", "-Wall", "-Wextra", "-pthread"],
            # Threads of the stand-in SDK run code that must stay mapped.
            extra_link_args=["-pthread", "-Wl,-z,nodelete"],
        ),
    ],
    cmdclass={"build_ext": build_vendor_library},
)
