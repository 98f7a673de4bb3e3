"""Folders of the wheel and the library libdl_graph; all other settings are in pyproject.toml."""

from pathlib import Path

from setuptools import find_namespace_packages, setup

from diopi_proto.build import VendorLibrary, build_vendor_library

# The header is next to src/, where a C project expects it, and in the package of the wheel.
HEADERS = {"dl_graph.include.dl": "include/dl"}

setup(
    packages=[*find_namespace_packages("src", exclude=["dl_graph.lib", "*.egg-info"]), *HEADERS],
    package_dir={"": "src", **HEADERS},
    ext_modules=[
        VendorLibrary(
            "dl_graph.lib.libdl_graph",
            sources=sorted(map(str, Path("csrc").glob("*.cpp"))),
            exports=("dl_contract_*",),
            include_dirs=["include"],
        ),
    ],
    cmdclass={"build_ext": build_vendor_library},
)
