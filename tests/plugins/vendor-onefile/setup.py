"""Builds the vendor, and its card's driver, which stands in for one that a machine would have."""

from pathlib import Path

from setuptools import setup

from diopi_proto.build import VendorLibrary, build_vendor_library
from dl_vendor_kit import include_dir

CARD = Path("../../../packages/vendor-kit/card")
# A test vendor is compiled far more often than it computes.
FLAGS = ["-O1", "-Wall", "-Wextra"]

setup(
    ext_modules=[
        VendorLibrary(
            "dl_vendor_onefile_test.lib.libdl_vendor_onefile_test",
            sources=["csrc/vendor.cpp"],
            include_dirs=[str(include_dir()), str(CARD)],
            extra_compile_args=FLAGS,
        ),
        VendorLibrary(
            "dl_vendor_onefile_test.lib.libcard",
            sources=sorted(map(str, CARD.glob("*.cpp"))),
            filename="libcard.so.1",
            exports=("card*",),
            extra_compile_args=FLAGS,
        ),
    ],
    cmdclass={"build_ext": build_vendor_library},
)
