"""Build of one kernel library for AMD GPUs, compiled with hipcc.

``DL_ROCM_ARCH`` selects the GPUs: a comma-separated list of processors, ``gfx90a,gfx1030``; ``all``
is for a release, and ``emulated`` for a machine without GPUs: kernels compiled by g++, which the
fake driver in the wheel runs. ``DL_ROCM_FAMILIES`` selects families of operators, for tests of
everything else.
"""

import os
import runpy
import shlex
import shutil
from pathlib import Path
from typing import Any

from setuptools import setup

from diopi_proto.build import DeviceCompiler, VendorLibrary
from dl_kernels.build import KernelLibrary, build_kernel_library, chosen_families
from dl_kernels.hipcc import HipccError, find_hipcc, hipcc, processors
from dl_vendor_kit import include_dir

VERSION = runpy.run_path("src/dl_vendor_rocm/_version.py")["__version__"]
# One architecture: each additional one takes another third of the time (docs/building.md).
DEFAULT = "gfx90a"
EMULATED = "emulated"
# Sources of an emulated build are next to the package, in the repository only.
PACKAGES = Path(__file__).absolute().parents[1]
FAKE = PACKAGES / "vendor-kit" / "tests" / "fakes" / "hip"
EMULATION = PACKAGES / "kernels" / "tests" / "emulation"
PLACE = "dl_vendor_rocm.lib"


def headers(*folders: Path) -> list[str]:
    return [str(path) for folder in folders for path in folder.rglob("*.h")]


def library(**options: Any) -> KernelLibrary:
    """Return the vendor's library with the settings of all builds and ``options``."""
    own: dict[str, list[Any]] = {
        "sources": sorted(
            str(path) for end in ("cpp", "hip") for path in Path("csrc").rglob(f"*.{end}")
        ),
        "include_dirs": ["csrc", str(include_dir())],
        "define_macros": [
            ("DL_ROCM_VERSION", f'"{VERSION}"'),
            ("DL_KERNELS_OPERATOR_HEADER", '"runtime/operators.h"'),
        ],
        "extra_compile_args": ["-Wall", "-Wextra"],
        "depends": headers(Path("csrc"), Path(include_dir())),
    }
    for name, more in own.items():
        options[name] = [*more, *options.get(name, ())]
    families = chosen_families("DL_ROCM_FAMILIES")
    return KernelLibrary(f"{PLACE}.libdl_vendor_rocm", families=families, **options)


def for_gpus(wanted: str) -> list[VendorLibrary]:
    """Return the library with hipcc's machine code.

    :raises SystemExit: hipcc is missing or a variable is invalid.
    """
    try:
        compiler = find_hipcc()
        code = processors(wanted, compiler)
    except HipccError as error:
        raise SystemExit(f"dl-vendor-rocm cannot be built: {error}") from error
    except ValueError as error:
        raise SystemExit(f"DL_ROCM_ARCH: {error}") from error
    macros = [
        ("DL_ROCM_CODE", f'"{" ".join(code)}"'),
        ("DL_ROCM_COMPILER", str(compiler.version)),
    ]
    return [library(define_macros=macros, device_compiler=hipcc(compiler, code))]


def emulated() -> list[VendorLibrary]:
    """Return the library with g++'s kernels, whose threads are fibers, and their driver.

    :raises SystemExit: the package is not in its repository.
    """
    if not FAKE.is_dir() or not EMULATION.is_dir():
        raise SystemExit(f"DL_ROCM_ARCH={EMULATED} needs a checkout of the repository: no {FAKE}")
    macros = [
        ("DL_ROCM_CODE", f'"{EMULATED}"'),
        ("DL_ROCM_COMPILER", "0"),
        ("DL_KERNELS_MACHINE", '"gpu_emulation.h"'),
        ("DL_EMULATION_LAUNCH", '"emulated_launch.h"'),
        ("DL_EMULATION_BLOCK_THREADS", "256"),  # per block: four or eight waves, as on a GPU
    ]
    # Builds with some families are for tests, whose time is spent compiling, not running.
    optimisation = "-O0" if os.environ.get("DL_ROCM_FAMILIES") else "-O1"
    # g++ compiles hipcc's sources as C++.
    compiler = DeviceCompiler(
        name="g++",
        command=tuple(shlex.split(os.environ.get("CXX") or "g++")),
        suffix=".hip",
        flags=("-x", "c++", optimisation, "-pthread", "-Wall", "-Wextra"),
        host_flag="",
    )
    kernels = library(
        device_compiler=compiler,
        sources=[str(EMULATION / "fibers.cpp"), str(EMULATION / "unwatched" / "unwatched.cpp")],
        include_dirs=[str(EMULATION), str(FAKE)],
        define_macros=macros,
        extra_compile_args=[optimisation, "-pthread"],
        depends=headers(FAKE, EMULATION),
    )
    driver = VendorLibrary(
        f"{PLACE}.libamdhip64",
        sources=sorted(str(path) for path in FAKE.glob("*.cpp")),
        filename="libamdhip64.so",
        exports=("hip*", "fake_hip_*"),
        include_dirs=[str(include_dir())],
        extra_compile_args=["-O1", "-pthread"],
        legacy=True,
        depends=headers(FAKE, FAKE.parent / "common"),
    )
    return [kernels, driver]


class build(build_kernel_library):  # noqa: N801 - setuptools names it so
    """Build step that separates builds of the two kinds: each has its own object files, and a wheel
    has the libraries of one kind.
    """

    def finalize_options(self) -> None:
        super().finalize_options()
        self.build_temp = f"{self.build_temp}-{EMULATED if arch == EMULATED else 'gpus'}"

    def run(self) -> None:
        shutil.rmtree(Path(self.build_lib, *PLACE.split(".")), ignore_errors=True)
        super().run()


arch = os.environ.get("DL_ROCM_ARCH") or DEFAULT
setup(
    ext_modules=emulated() if arch == EMULATED else for_gpus(arch),
    cmdclass={"build_ext": build},
)
