"""Builds the library by the contract's rules; everything else is in pyproject.toml.

The OpenCL C sources become a string of the library, which the driver compiles on first use.
"""

import runpy
from pathlib import Path

from setuptools import setup

from diopi_proto.build import VendorLibrary, build_vendor_library
from dl_vendor_kit import include_dir

VERSION = runpy.run_path("src/dl_vendor___chip__/__init__.py")["__version__"]
# The kernels, after the declarations of their arguments.
SOURCE = "".join(Path("csrc", name).read_text() for name in ("kernels.h", "kernels.cl"))
GENERATED = Path("build/generated")
GENERATED.mkdir(parents=True, exist_ok=True)
Path(GENERATED, "kernels.inc").write_text(f'R"CL({SOURCE})CL"\n')

setup(
    ext_modules=[
        VendorLibrary(
            "dl_vendor___chip__.lib.libdl_vendor___chip__",
            sources=sorted(map(str, Path("csrc").glob("*.cpp"))),
            depends=sorted(str(x) for x in Path("csrc").iterdir() if x.suffix in (".h", ".cl")),
            include_dirs=["csrc", str(GENERATED), str(include_dir())],
            define_macros=[("VENDOR_VERSION", f'"{VERSION}"')],
            extra_compile_args=["-O2", "-Wall", "-Wextra", "-pthread"],
            extra_link_args=["-pthread"],
        )
    ],
    cmdclass={"build_ext": build_vendor_library},
)
