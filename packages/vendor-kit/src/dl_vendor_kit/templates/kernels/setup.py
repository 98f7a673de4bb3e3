"""Builds the library by the contract's rules; everything else is in pyproject.toml.

g++ compiles the kernels, for a stand-in device that consists of the host's processors. For a chip
with a compiler of its own, pass ``device_compiler=DeviceCompiler(...)`` of ``diopi_proto.build``;
docs/other-compilers.md of dl-vendor-kit has an example.
"""

import runpy

from setuptools import setup

from dl_kernels.build import KernelLibrary, build_kernel_library
from dl_vendor_kit import include_dir

VERSION = runpy.run_path("src/dl_vendor___chip__/__init__.py")["__version__"]
# Families of operators to compile, with those that they use. None: all, which takes minutes.
FAMILIES = (
    *("activation_piecewise", "arithmetic", "copy", "division", "fill"),
    *("matmul", "power", "reduction"),
)

setup(
    ext_modules=[
        KernelLibrary(
            "dl_vendor___chip__.lib.libdl_vendor___chip__",
            sources=["csrc/vendor.cpp"],
            include_dirs=["csrc", str(include_dir())],
            define_macros=[("VENDOR_VERSION", f'"{VERSION}"')],
            families=FAMILIES,
            # Kernels ignore errno and floating-point exceptions, which allows more vectorization.
            extra_compile_args=["-fno-math-errno", "-fno-trapping-math"],
        )
    ],
    cmdclass={"build_ext": build_kernel_library},
)
