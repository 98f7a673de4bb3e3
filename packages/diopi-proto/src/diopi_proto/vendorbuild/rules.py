"""Build rules: flags for the compiler and the linker, and forbidden dependencies.

``cmake/dl-vendor.cmake`` repeats the flags; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence

ENTRY_SYMBOL = "dl_vendor_v1"
"""The only symbol that a vendor library exports."""
OPERATORS_SYMBOL = "dl_operators_v1"
"""The only symbol that a library with added operators exports."""

COMMON_FLAGS = ("-O3", "-fPIC", "-fvisibility=hidden")
C_FLAGS = ("-std=c11",)
# Without -fno-gnu-unique, the loader shares inline statics even between RTLD_LOCAL libraries.
CXX_FLAGS = ("-std=c++17", "-fvisibility-inlines-hidden", "-fno-gnu-unique")

# -Bsymbolic: a library calls its own operators even if another exports the same names.
LINK_FLAGS = ("-shared", "-Wl,-Bsymbolic", "-Wl,--as-needed")
# Only legacy libraries have undefined symbols: DIOPI's runtime functions.
COMPLETE_FLAGS = ("-Wl,-z,defs",)

FORBIDDEN_LIBRARIES = (
    "libtorch*",
    "libc10*",
    "libpython*",
    "libdiopirt*",
    "libdiopi_impl*",
    "libdl_*",
)
"""Patterns of libraries that a vendor library must not need at load."""


def version_script(exports: Sequence[str]) -> str:
    """Return a linker version script that exports the names (or glob patterns) and hides all
    others.

    Hidden visibility alone is not enough: instantiations of the standard library's templates are
    marked visible in its headers.
    """
    return "{\n  global: " + " ".join(f"{name};" for name in exports) + "\n  local: *;\n};\n"
