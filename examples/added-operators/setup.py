"""Build of the library by the contract's rules; pyproject.toml has all other settings."""

from setuptools import setup

from diopi_proto.build import VendorLibrary, build_vendor_library
from dl_vendor_kit import include_dir

setup(
    ext_modules=[
        VendorLibrary(
            "dl_fast_add.lib.libdl_fast_add",
            sources=["csrc/operators.cpp"],
            include_dirs=[str(include_dir())],
            exports=("dl_operators_v1",),
        )
    ],
    cmdclass={"build_ext": build_vendor_library},
)
