"""Build the fake libcnnl.so, and the header that states the values of its enumerations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import building
import structures

from diopi_proto import include_dir as contract_dir

HERE = Path(__file__).parent
FAKE = HERE.parent
STRUCTURE = FAKE / "generated"
MEANINGS = FAKE / "meaning"
# The types of the generated structure.
TYPES = HERE.parents[4] / "vendor-cambricon" / "csrc"
# C++ type of an argument inside a meaning, by its kind.
_FIELDS = {
    "tensor": "Tensor",
    "tensors": "Tensors",
    "scalar": "Number",
    "object": "Described",
    "boolean": "bool",
    "floating": "double",
    "integer": "int64_t",
}


def header() -> str:
    """Return a header as CNNL's: its enumerations, and declarations of its functions."""
    text = (HERE / "enumerators.h").read_text(encoding="utf-8")
    enumerations = "\n".join(
        f"typedef enum {{{body}}} {name};"
        for name, body in re.findall(r"^enum (\w+) \{(.*?)\};", text, re.M | re.S)
    )
    functions = (STRUCTURE / "functions.gen.cpp").read_text(encoding="utf-8")
    declared = "\n".join(
        f"cnnlStatus_t CNNL_WIN_API {name}({arguments});"
        for name, arguments in re.findall(
            r"^DL_FAKE_EXPORT int (\w+)\(([^)]*)\) \{", functions, re.M | re.S
        )
    )
    return f"/* The fake library. */\n{enumerations}\n{declared}\n"


def build_operators(folder: Path, *, runtime: Path, missing: Iterable[str] = ()) -> Path:
    """Build ``lib64/libcnnl.so`` and ``include/cnnl.h`` in ``folder`` and return it.

    The operators compute with the contract library that FAKE_ENGINE names when a program first
    calls them.

    :param runtime: the fake libcnrt.so, in lib64.
    :param missing: functions that the library does not export.
    """
    libraries, headers = folder / "lib64", folder / "include"
    libraries.mkdir(parents=True, exist_ok=True)
    headers.mkdir(exist_ok=True)
    (headers / "cnnl.h").write_text(header(), encoding="utf-8")
    work = folder / "work"
    work.mkdir(exist_ok=True)
    functions = structures.read_structure(STRUCTURE)
    common = (functions, _FIELDS, "cnnl", "fake_cnnl")
    written = structures.find_meanings(MEANINGS)
    structures.write_if_changed(work / "arguments.gen.h", structures.arguments_header(*common))
    structures.write_if_changed(
        work / "dispatch.gen.cpp", structures.dispatch_source(*common, written, "call.h")
    )
    folders = (work, HERE, STRUCTURE, TYPES, contract_dir())
    sources = [HERE / f"{name}.cpp" for name in ("objects", "binding", "call")]
    sources += [work / "dispatch.gen.cpp", STRUCTURE / "functions.gen.cpp"]
    sources += [*sorted(MEANINGS.glob("*.cpp")), *sorted(building.COMPUTING.glob("*.cpp"))]
    objects = building.compile_sources(sources, work, folders, "-Werror")
    script = work / "libcnnl.map"
    hidden = "".join(f"    {name};\n" for name in missing)
    script.write_text(f"{{\n  local:\n{hidden}    _*;\n}};\n", encoding="utf-8")
    options = (str(runtime), f"-Wl,--version-script={script}")
    building.link(objects, libraries / "libcnnl.so", *options)
    return folder
