"""Generate the arguments of meanings from the structure of the fake library.

``../generated/functions.gen.cpp`` lists the functions of the library with the names and types of
their arguments. From these, and from nothing else, come

- ``arguments.gen.h``: one struct per function with its arguments by name; ``../meaning`` defines
  its function ``meaning``;
- ``dispatch.gen.cpp``: the table that finds a meaning by the name of its function.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

import structures
from structures import Functions

FAKE = Path(__file__).parents[1]
STRUCTURE = FAKE / "generated"
MEANINGS = FAKE / "meaning"
#: Libraries of newer releases, which share the functions of libopapi.so.
SHARES = ("math", "nn", "cv")

# C++ type of an argument inside a meaning, by its kind.
_FIELDS = {
    "tensor": "Tensor",
    "tensors": "Tensors",
    "scalar": "Scalar",
    "ints": "Ints",
    "bools": "Bools",
    "dtype": "Dtype",
    "string": "std::string",
    "boolean": "bool",
    "floating": "double",
    "integer": "int64_t",
}


def read_structure() -> Functions:
    """Return the name and kind of each argument of each function."""
    return structures.read_structure(STRUCTURE)


def find_meanings() -> set[str]:
    """Return the names of the functions whose meaning is written."""
    return {f"aclnn{name}" for name in structures.find_meanings(MEANINGS)}


def share_of(name: str) -> str:
    """Return the library that holds a function in a split installation."""
    return SHARES[zlib.crc32(name.encode()) % len(SHARES)]


def export_script(names: Sequence[str]) -> str:
    """Return a linker script that exports these functions alone."""
    symbols = "".join(f"    {name};\n    {name}GetWorkspaceSize;\n" for name in names)
    return f"{{\n  global:\n{symbols}  local:\n    *;\n}};\n"


def generate(folder: Path) -> Functions:
    """Write the generated files into ``folder`` and return the functions of the library."""
    functions = read_structure()
    common = (functions, _FIELDS, "aclnn", "fake_aclnn")
    written = structures.find_meanings(MEANINGS)
    structures.write_if_changed(folder / "arguments.gen.h", structures.arguments_header(*common))
    structures.write_if_changed(
        folder / "dispatch.gen.cpp", structures.dispatch_source(*common, written, "executor.h")
    )
    return functions
