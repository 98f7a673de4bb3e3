"""One library of kernels for NVIDIA's cards, compiled with nvcc; all else stands in pyproject.toml.

``DL_CUDA_ARCH`` says for which cards: a comma-separated list of compute capabilities, ``80`` for
machine code and ``ptx80`` for PTX, which drivers translate for any later card; ``all`` is for a
release. ``DL_CUDA_FAMILIES`` names some families of operators, for tests of all else.
"""

import os
from pathlib import Path

from setuptools import setup

from dl_kernels.build import KernelLibrary, build_kernel_library
from dl_kernels.nvcc import NvccError, architectures, find_nvcc, nvcc
from dl_vendor_kit import include_dir

# The cheapest that runs on every card: no machine code is made. README has what it costs.
DEFAULT = "ptx75"
# Besides, for products and attention: tensor cores know more types there, and copies do not pass
# through registers.
DEFAULT_SHARED = "ptx80"


def version() -> str:
    """The version that the package declares, without importing it."""
    namespace: dict[str, str] = {}
    exec(Path("src/dl_vendor_cuda/_version.py").read_text(encoding="utf-8"), namespace)
    return namespace["__version__"]


def library() -> KernelLibrary:
    """What to build.

    :raises SystemExit: there is no nvcc, or a variable holds what it may not.
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
    families = os.environ.get("DL_CUDA_FAMILIES")
    names = " ".join(one.name for one in code)
    headers = [*Path("csrc").rglob("*.h"), *Path(include_dir()).rglob("*.h")]
    return KernelLibrary(
        "dl_vendor_cuda.lib.libdl_vendor_cuda",
        sources=sorted(
            str(path) for end in ("cpp", "cu") for path in Path("csrc").rglob(f"*.{end}")
        ),
        families=families.split(",") if families else None,
        include_dirs=["csrc", str(include_dir())],
        define_macros=[
            ("DL_CUDA_VERSION", f'"{version()}"'),
            ("DL_CUDA_CODE", f'"{names}"'),
            ("DL_CUDA_COMPILER", str(toolkit.version)),
            ("DL_KERNELS_OPERATOR_HEADER", '"runtime/operators.h"'),
        ],
        extra_compile_args=["-Wall", "-Wextra"],
        depends=[str(path) for path in headers],
        # PTX alone is text, which the wheel packs, and which a simulator of drivers can read.
        device_compiler=nvcc(
            toolkit, code, shared_code=shared_code, compress=not all(one.ptx for one in code)
        ),
    )


setup(ext_modules=[library()], cmdclass={"build_ext": build_kernel_library})
