"""Builds the vendor, and a fake driver that replaces the one that a machine would have."""

from pathlib import Path

from setuptools import setup

from diopi_proto.build import VendorLibrary, build_vendor_library
from dl_vendor_kit import include_dir

DRIVER = Path("../../packages/vendor-kit/tests/fakes/runtime")
# Compiling fast matters more than running fast: tests compile this vendor often.
FLAGS = ["-O1", "-Wall", "-Wextra"]

setup(
    ext_modules=[
        VendorLibrary(
            "dl_vendor_onefile.lib.libdl_vendor_onefile",
            sources=["csrc/vendor.cpp"],
            include_dirs=[str(include_dir()), str(DRIVER)],
            extra_compile_args=FLAGS,
        ),
        VendorLibrary(
            "dl_vendor_onefile.lib.libsim",
            sources=sorted(map(str, DRIVER.glob("*.cpp"))),
            filename="libsim.so.1",
            exports=("sim*",),
            extra_compile_args=FLAGS,
        ),
    ],
    cmdclass={"build_ext": build_vendor_library},
)
