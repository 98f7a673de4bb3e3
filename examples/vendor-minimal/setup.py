"""Build of the library by the contract's rules; pyproject.toml has all other settings."""

from setuptools import setup

from diopi_proto.build import VendorLibrary, build_vendor_library

setup(
    ext_modules=[
        VendorLibrary("dl_vendor_minimal.lib.libdl_vendor_minimal", sources=["csrc/vendor.c"])
    ],
    cmdclass={"build_ext": build_vendor_library},
)
