"""One library per instruction set, from the same sources; everything else is in pyproject.toml.

``DL_BUILD_ISA`` selects them: a comma-separated list, or ``all`` for a release; by default the best
one that this machine supports. The levels are ``v2``, ``v3`` and ``v4`` of x86-64, and ``armv8``
and ``sve`` of aarch64. On other processors there is a single library, ``native``.

``DL_CPU_FAMILIES`` selects families of operators, for tests of everything else.

``DL_BUILD_DIOPI_IMPL=1`` adds ``libdiopi_impl.so``: the same operators in DIOPI's own convention,
for hosts that look them up by name and provide DIOPI's runtime functions.
"""

import os
import runpy
from pathlib import Path

from setuptools import setup

from dl_kernels.build import KernelLibrary, build_kernel_library, chosen_families
from dl_vendor_kit import include_dir as kit_dir

LEVELS = runpy.run_path("src/dl_vendor_cpu/levels.py")
# Kernels ignore errno and floating-point exceptions, which allows more vectorization.
COMMON = [
    "-fno-math-errno",
    "-fno-trapping-math",
    "--param=vect-epilogues-nomask=0",
    "-Wall",
    "-Wextra",
]

SOURCES = sorted(str(path) for path in Path("csrc").rglob("*.cpp"))
# Sources that a library in DIOPI's own convention does not need.
TABLE_ONLY = ("csrc/runtime/", "csrc/extensions/", "csrc/plugin")
HEADERS = [
    *(str(path) for path in Path("csrc").rglob("*.h")),
    *(str(path) for path in Path(kit_dir()).rglob("*.h")),
]


def levels() -> list[str]:
    """Return the instruction sets to build for."""
    known: list[str] = LEVELS["known_levels"]()
    here: list[str] = LEVELS["levels_here"]()
    wanted = os.environ.get("DL_BUILD_ISA") or (here or known)[0]
    chosen = known if wanted == "all" else wanted.split(",")
    unknown = [level for level in chosen if level not in known]
    if unknown:
        raise SystemExit(f"DL_BUILD_ISA={wanted}: {unknown[0]!r} is not {', '.join(known)} or all")
    return chosen


def flags(level: str) -> list[str]:
    """Return the compiler's options for an instruction set."""
    architecture = LEVELS["ARCHITECTURES"].get(level)
    wide = ["-mprefer-vector-width=512"] if level == "v4" else []
    return [f"-march={architecture}", *wide] if architecture else []


def version() -> str:
    """Return the version that the package declares, without importing it."""
    namespace: dict[str, str] = {}
    exec(Path("src/dl_vendor_cpu/_version.py").read_text(encoding="utf-8"), namespace)
    return namespace["__version__"]


def library(level: str) -> KernelLibrary:
    name = LEVELS["ARCHITECTURES"].get(level, level)
    return KernelLibrary(
        f"dl_vendor_cpu.lib.libdl_vendor_cpu_{level}",
        sources=SOURCES,
        families=chosen_families("DL_CPU_FAMILIES"),
        include_dirs=["csrc", str(kit_dir())],
        define_macros=[("DL_CPU_ISA", f'"{name}"'), ("DL_CPU_VERSION", f'"{version()}"')],
        extra_compile_args=[*COMMON, *flags(level)],
        depends=HEADERS,
    )


def diopi_impl(level: str) -> KernelLibrary:
    """Return a library without a vendor table, which exports the operators by their names."""
    return KernelLibrary(
        "dl_vendor_cpu.lib.libdiopi_impl",
        sources=[path for path in SOURCES if not path.startswith(TABLE_ONLY)],
        families=chosen_families("DL_CPU_FAMILIES"),
        include_dirs=["csrc", str(kit_dir())],
        define_macros=[("DL_CPU_VERSION", f'"{version()}"')],
        extra_compile_args=[*COMMON, *flags(level)],
        depends=HEADERS,
        diopi_convention=True,
    )


LIBRARIES = [library(level) for level in levels()]
if os.environ.get("DL_BUILD_DIOPI_IMPL", "0") not in ("", "0"):
    LIBRARIES.append(diopi_impl(levels()[0]))

setup(
    ext_modules=LIBRARIES,
    cmdclass={"build_ext": build_kernel_library},
)
