"""Programs whose libraries are compiled with AddressSanitizer and UndefinedBehaviorSanitizer.

The former detects accesses outside of allocated blocks, the latter undefined behavior of C++. Needs
g++ and its sanitizers.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from diopi_proto.build import compile_library

SANITIZERS = "-fsanitize=address,undefined,float-cast-overflow"
FLAGS = (SANITIZERS, "-fno-omit-frame-pointer", "-O1", "-g1")
# Python does not free most of its memory at exit, which would be reported as leaks. Some tests
# request too much memory on purpose. They cannot limit the address space, which the sanitizer needs
# for itself, so its allocator limits the size of an allocation.
ADDRESS = "detect_leaks=0:halt_on_error=1:allocator_may_return_null=1:max_allocation_size_mb=8192"
UNDEFINED = "print_stacktrace=1:halt_on_error=0"

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
    """Run a program with the sanitizers' runtime, which must be its first library.

    :returns: the exit status, and the reports of the sanitizers.
    """
    environment = {
        **os.environ,
        "LD_PRELOAD": " ".join(map(runtime, ("libasan.so", "libubsan.so"))),
        "ASAN_OPTIONS": ADDRESS,
        "UBSAN_OPTIONS": UNDEFINED,
        "PYTHONMALLOC": "malloc",
        **given,
    }
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(command, env=environment, stderr=said, check=False)
        said.seek(0)
        reports = said.read().decode("utf-8", "replace")
    return done.returncode, reports if any(mark in reports for mark in REPORTED) else ""


def runtime(library: str) -> str:
    """Return the path of one of the compiler's libraries."""
    command = [os.environ.get("CXX", "g++").split()[-1], f"-print-file-name={library}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def check_that_mistakes_are_noticed(folder: Path) -> None:
    """Check that the sanitizers detect mistakes that are typical of operators.

    :param folder: folder for compiled files.
    :raises SystemExit: an error is not detected.
    """
    source = folder / "mistakes.cpp"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(MISTAKES, encoding="utf-8")
    library = compile_library(
        folder / "mistakes.so",
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
                f"the sanitizers of this compiler do not detect an intentional error: {mistake}"
            )
