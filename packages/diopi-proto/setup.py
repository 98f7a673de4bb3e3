"""The folders of the wheel, libdiopirt and libdl_host; all else stands in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import find_namespace_packages, setup

# The helper is part of what is being built.
sys.path.insert(0, str(Path(__file__).parent / "src"))

from diopi_proto.build import VendorLibrary, build_vendor_library

# The headers stand beside src/, where a C project looks for them, and inside the wheel's package.
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
            exports=("dl_adaptor_*", "dl_checked_*", "dl_trial"),
            include_dirs=["include", "csrc"],
        ),
    ],
    cmdclass={"build_ext": build_vendor_library},
)
