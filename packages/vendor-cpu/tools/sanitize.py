"""Run the numeric tests of this vendor on a library that watches itself.

AddressSanitizer sees accesses outside of every tensor and every block that a kernel allocates,
UndefinedBehaviorSanitizer what C++ leaves undefined. What either finds is reported where it
happens and fails the run, and so do sanitizers that overlook three planted mistakes. Needs g++ and
its sanitizers; options go to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from diopi_proto.build import compile_library
from dl_kernels import include_dir, write_units
from dl_vendor_cpu import __version__
from dl_vendor_cpu.levels import levels_here

VENDOR = Path(__file__).parents[1]
ROOT = VENDOR.parents[1]
KIT = ROOT / "packages/vendor-kit/include"
OBJECTS = ROOT / "build/sanitize"

SANITIZERS = "-fsanitize=address,undefined,float-cast-overflow"
FLAGS = (SANITIZERS, "-fno-omit-frame-pointer", "-O1", "-g1")
# Python frees little at its end; that is no leak of the library's. Tests ask for too much memory.
ADDRESS = "detect_leaks=0:halt_on_error=1:allocator_may_return_null=1"
UNDEFINED = "print_stacktrace=1:halt_on_error=0"
OWN = ("test_diopi_impl.py", "test_libraries.py", "test_library.py", "test_plugin.py")
"""Tests of how libraries are built and found."""

MISTAKES = """
extern "C" int sum(int a, int b) { return a + b; }
extern "C" long whole(double x) { return static_cast<long>(x); }
extern "C" int element(const int* from, long at) { return from[at]; }
"""
MAKE_THEM = """
import sys, cffi
ffi = cffi.FFI()
ffi.cdef("int sum(int, int); long whole(double); int element(int*, long); void* malloc(size_t);")
library, c = ffi.dlopen(sys.argv[1]), ffi.dlopen(None)
library.sum(2**31 - 1, 1)
library.whole(1e300)
library.element(ffi.cast("int*", c.malloc(8)), 2)
"""
REPORTED = ("runtime error:", "ERROR: AddressSanitizer")
NOTICED = (
    "signed integer overflow",
    "is outside the range of representable values",
    "heap-buffer-overflow",
)


def run(command: list[str], given: Mapping[str, str]) -> tuple[int, str]:
    """Run a program with the sanitizers' runtime, which has to be its first library.

    :returns: the exit status, and what the sanitizers reported.
    """
    environment = {
        **os.environ,
        **given,
        "LD_PRELOAD": " ".join(map(runtime, ("libasan.so", "libubsan.so"))),
        "ASAN_OPTIONS": ADDRESS,
        "UBSAN_OPTIONS": UNDEFINED,
        "PYTHONMALLOC": "malloc",
    }
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(command, env=environment, stderr=said, check=False)
        said.seek(0)
        reports = said.read().decode("utf-8", "replace")
    return done.returncode, reports if any(mark in reports for mark in REPORTED) else ""


def runtime(library: str) -> str:
    """The path of a library of the compiler's."""
    command = [os.environ.get("CXX", "g++").split()[-1], f"-print-file-name={library}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def check_that_mistakes_are_noticed() -> None:
    """Make some, as an operator could."""
    source = OBJECTS / "mistakes.cpp"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(MISTAKES, encoding="utf-8")
    library = compile_library(
        OBJECTS / "mistakes.so",
        [source],
        exports=("sum", "whole", "element"),
        compile_flags=[*FLAGS, "-fvisibility=default"],
        link_flags=[SANITIZERS],
        check=False,
    )
    _, reports = run([sys.executable, "-c", MAKE_THEM, str(library)], {})
    for mistake in NOTICED:
        if mistake not in reports:
            raise SystemExit(
                f"the sanitizers of this compiler overlook a planted mistake: {mistake}"
            )


def build() -> Path:
    """The vendor's library for this processor, compiled with the sanitizers."""
    level = (levels_here() or ["v2"])[0]
    native = level == "native"
    name = level if native else f"x86-64-{level}"
    return compile_library(
        OBJECTS / "libdl_vendor_cpu.so",
        [*write_units(OBJECTS / "units"), *sorted((VENDOR / "csrc").rglob("*.cpp"))],
        include_dirs=[VENDOR / "csrc", include_dir(), KIT],
        compile_flags=[
            *FLAGS,
            *(() if native else (f"-march={name}",)),
            f'-DDL_CPU_ISA="{name}"',
            f'-DDL_CPU_VERSION="{__version__}"',
        ],
        link_flags=[SANITIZERS],
        build_dir=OBJECTS,
        check=False,
    )


def main() -> int:
    check_that_mistakes_are_noticed()
    given = {"DL_TEST_LIBRARY": str(build()), "DL_TEST_UNGUARDED": "1"}
    tests = VENDOR / "tests"
    ignored = [f"--ignore={tests / name}" for name in OWN]
    # Sanitizers write to the process's own standard error, which pytest must leave alone.
    command = [sys.executable, "-m", "pytest", "--capture=sys", str(tests), *ignored]
    code, reports = run([*command, *sys.argv[1:]], given)
    print(reports)
    return code or int(bool(reports))


if __name__ == "__main__":
    sys.exit(main())
