"""Build of one kernel library for OpenCL devices: kernels as SPIR-V, compiled by clang.

``DL_OPENCL_FAMILIES`` selects families of operators, for tests of everything else.
``DL_LLVM_BIN`` names a folder with clang and the SPIR-V tools, which are searched in ``PATH``
otherwise.
"""

from pathlib import Path

from setuptools import setup

from dl_kernels.build import KernelLibrary, build_kernel_library, chosen_families
from dl_kernels.spirv import SpirvError, find_spirv_tools, spirv_compiler
from dl_vendor_kit import include_dir

# Sizes of a work-group and of its sub-groups, in work-items.
GROUP_THREADS = 256
WARP_THREADS = 32


def version() -> str:
    """Return the package's version without importing it."""
    namespace: dict[str, str] = {}
    exec(Path("src/dl_vendor_opencl/_version.py").read_text(encoding="utf-8"), namespace)
    return namespace["__version__"]


def library() -> KernelLibrary:
    """Return the vendor's library.

    :raises SystemExit: a tool of the compiler is missing.
    """
    try:
        tools = find_spirv_tools()
    except SpirvError as error:
        raise SystemExit(f"dl-vendor-opencl cannot be built: {error}") from error
    headers = [*Path("csrc").rglob("*.h"), *Path("csrc").rglob("*.cl")]
    return KernelLibrary(
        "dl_vendor_opencl.lib.libdl_vendor_opencl",
        sources=sorted(map(str, Path("csrc").rglob("*.cpp"))),
        families=chosen_families("DL_OPENCL_FAMILIES"),
        include_dirs=["csrc", str(include_dir())],
        define_macros=[
            ("DL_OPENCL_VERSION", f'"{version()}"'),
            ("DL_OPENCL_GROUP_THREADS", str(GROUP_THREADS)),
            ("DL_OPENCL_WARP_THREADS", str(WARP_THREADS)),
            ("DL_KERNELS_OPERATOR_HEADER", '"runtime/operators.h"'),
        ],
        extra_compile_args=["-Wall", "-Wextra"],
        device_compiler=spirv_compiler(
            tools,
            library="csrc/device/library.cl",
            prelude="csrc/machine/prelude.h",
            machine="machine/opencl.h",
            group_threads=GROUP_THREADS,
            warp_threads=WARP_THREADS,
        ),
        depends=[*map(str, headers), *map(str, Path(include_dir()).rglob("*.h"))],
    )


setup(ext_modules=[library()], cmdclass={"build_ext": build_kernel_library})
