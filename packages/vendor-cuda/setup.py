"""Build of one kernel library for NVIDIA GPUs, compiled with nvcc.

``DL_CUDA_ARCH`` selects the GPUs: a comma-separated list of compute capabilities, ``80`` for
machine code and ``ptx80`` for PTX, which drivers compile for any later GPU; ``all`` is for a
release.
``DL_CUDA_FAMILIES`` selects families of operators, for tests of everything else.
"""

import os
import runpy
from pathlib import Path

from setuptools import setup

from dl_kernels.build import KernelLibrary, build_kernel_library, chosen_families
from dl_kernels.nvcc import NvccError, architectures, find_nvcc, nvcc
from dl_vendor_kit import include_dir

VERSION = runpy.run_path("src/dl_vendor_cuda/_version.py")["__version__"]
# The cheapest option that runs on every GPU: no machine code is made. docs/building.md lists costs.
DEFAULT = "ptx75"
# In addition, for products and attention: tensor cores support more types there, and copies to
# shared memory bypass registers.
DEFAULT_SHARED = "ptx80"


def library() -> KernelLibrary:
    """Return the library to build.

    :raises SystemExit: nvcc is missing or a variable is invalid.
    """
    try:
        toolkit = find_nvcc()
        wanted = os.environ.get("DL_CUDA_ARCH", "")
        code = architectures(wanted or DEFAULT)
        shared_code = () if wanted else architectures(DEFAULT_SHARED)
    except NvccError as error:
        raise SystemExit(f"dl-vendor-cuda cannot be built: {error}") from error
    except ValueError as error:
        raise SystemExit(f"DL_CUDA_ARCH: {error}") from error
    names = " ".join(one.name for one in code)
    headers = [*Path("csrc").rglob("*.h"), *Path(include_dir()).rglob("*.h")]
    return KernelLibrary(
        "dl_vendor_cuda.lib.libdl_vendor_cuda",
        sources=sorted(
            str(path) for end in ("cpp", "cu") for path in Path("csrc").rglob(f"*.{end}")
        ),
        families=chosen_families("DL_CUDA_FAMILIES"),
        include_dirs=["csrc", str(include_dir())],
        define_macros=[
            ("DL_CUDA_VERSION", f'"{VERSION}"'),
            ("DL_CUDA_CODE", f'"{names}"'),
            ("DL_CUDA_COMPILER", str(toolkit.version)),
            ("DL_KERNELS_OPERATOR_HEADER", '"runtime/operators.h"'),
        ],
        extra_compile_args=["-Wall", "-Wextra"],
        depends=[str(path) for path in headers],
        # The wheel stores PTX as text, and driver simulators can read only PTX.
        device_compiler=nvcc(
            toolkit, code, shared_code=shared_code, compress=not all(one.ptx for one in code)
        ),
    )


setup(ext_modules=[library()], cmdclass={"build_ext": build_kernel_library})
