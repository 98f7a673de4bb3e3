"""Folders of the wheel, libdiopirt and libdl_host; pyproject.toml has all other settings."""

import sys
from pathlib import Path

from setuptools import find_namespace_packages, setup

# The build helper is part of this package.
sys.path.insert(0, str(Path(__file__).parent / "src"))

from diopi_proto.build import VendorLibrary, build_vendor_library

# The headers are next to src/ in the source tree, and inside the package in the wheel.
HEADERS = {"diopi_proto.include.diopi": "include/diopi", "diopi_proto.include.dl": "include/dl"}

setup(
    packages=[*find_namespace_packages("src", exclude=["diopi_proto.lib", "*.egg-info"]), *HEADERS],
    package_dir={"": "src", **HEADERS},
    ext_modules=[
        VendorLibrary(
            "diopi_proto.lib.libdiopirt",
            sources=["csrc/diopirt.c"],
            filename="libdiopirt.so.1",
            soname="libdiopirt.so.1",
            exports=("diopi*",),
            include_dirs=["include"],
        ),
        VendorLibrary(
            "diopi_proto.lib.libdl_host",
            sources=["csrc/host.cpp", *map(str, sorted(Path("csrc").glob("*/*.cpp")))],
            exports=("dl_adaptor_*", "dl_added_*", "dl_checked_*", "dl_legacy_*", "dl_trial"),
            include_dirs=["include", "csrc"],
        ),
    ],
    cmdclass={"build_ext": build_vendor_library},
)
