"""The C++ sources of the library's functions: documented facts, and calls with the true types."""

from __future__ import annotations

from diopi_proto.schema import DTYPES

from .arguments import automatic, sizing_positions
from .model import Library
from .names import quoted
from .signatures import Argument, Function
from .text import banner, declarations, include_guard, wrapped

_KIT = "dl/kit/library"


def functions_header(library: Library) -> str:
    """Return ``functions.gen.h``: the functions of the library."""
    guard = include_guard(library, "functions")
    names = "\n".join(f"extern const Function {name};" for name in library.functions)
    return f"""{banner("Functions of the library, by name.")}
#ifndef {guard}
#define {guard}

#include "{_KIT}/call.h"
#include "{_KIT}/functions.h"

namespace {library.namespace} {{

namespace lib = ::dl::kit::library;

extern const lib::LibraryFacts kFacts;
// The vendor's calls of the library.
lib::Backend& backend_of(diopiContextHandle_t ctx);

namespace functions {{
using lib::Function;
{names}
}}  // namespace functions

}}  // namespace {library.namespace}

#endif  // {guard}
"""


def functions_source(library: Library) -> str:
    """Return ``functions.gen.cpp``: documented facts, and calls with the true C types."""
    tables = "\n".join(_facts(library, f) for f in library.functions.values())
    entries = "\n".join(_function(library, f, i) for i, f in enumerate(library.functions.values()))
    dtypes = ", ".join(str(library.dtypes.get(name, -1)) for name in DTYPES)
    formats = ", ".join(str(x) for x in _formats(library))
    names = ", ".join(quoted(x) for x in library.opened)
    libraries = f"constexpr const char* kLibraries[] = {{{names}}};"
    if not library.opened:
        libraries = "constexpr const char* const* kLibraries = nullptr;"
    types = declarations(library)
    if not types.startswith("#include"):
        types = f'extern "C" {{\n{types}\n}}'
    copy = f"&functions::{library.copy}" if library.copy else "nullptr"
    execute = "nullptr"
    if library.shape == "two_phase":
        execute = f"&lib::execute_call<{library.status}, {library.executor}, {library.stream}>"
    return f"""{banner("Documented facts about the library's functions, and their types.")}
#include "functions.gen.h"

{types}

namespace {library.namespace} {{
namespace {{

{tables}

}}  // namespace

namespace functions {{

{entries}

}}  // namespace functions

namespace {{
constexpr int kDtypes[] = {{{dtypes}}};
{libraries}
}}  // namespace

const lib::LibraryFacts kFacts = {{
    {quoted(library.name)}, kDtypes, {{{formats}}}, {copy}, kLibraries, {len(library.opened)},
    {len(library.functions)}, {execute}}};

}}  // namespace {library.namespace}
"""


def _formats(library: Library) -> list[int]:
    otherwise = library.format_by_rank.get(None)
    return [
        library.formats.get(library.format_by_rank.get(rank) or otherwise or "", 0)
        for rank in range(9)
    ]


def _facts(library: Library, function: Function) -> str:
    if not function.arguments:
        return f"constexpr const lib::ArgumentFacts* k_{function.name} = nullptr;"
    rows = ",\n".join(_row(library, function, i) for i in range(len(function.arguments)))
    table = f"constexpr lib::ArgumentFacts k_{function.name}[] = {{\n{rows}}};"
    if not function.workspace:
        return table
    # No array is empty in C++.
    positions = ", ".join(str(x) for x in sizing_positions(library, function) or [0])
    return f"{table}\nconstexpr int8_t s_{function.name}[] = {{{positions}}};"


def _row(library: Library, function: Function, position: int) -> str:
    a: Argument = function.arguments[position]
    dtypes = 0
    for dtype in a.dtypes:
        dtypes |= 1 << DTYPES.index(dtype)
    low, high = a.ndim or (0, -1)
    # Only integers of 64 bits take any value of the contract.
    is_narrow = library.kind(a.type) == "integer" and a.type != "int64_t"
    range_ = f", lib::range_of<{a.type}>()" if is_narrow else ""
    flags = ", ".join("true" if x else "false" for x in (a.reads, a.writes, a.strided))
    return (
        f'    {{"{a.name}", {flags}, {hex(dtypes)}, {low}, {high}, '
        f"lib::ArgumentFacts::{automatic(library, function, position)}{range_}}}"
    )


def _function(library: Library, function: Function, index: int) -> str:
    types = [library.status, *(a.type for a in function.arguments)]
    count = len(function.arguments)
    if library.shape == "two_phase":
        call = f"lib::TwoPhaseCall<{', '.join([library.executor, *types])}>::begin"
        begin, begins, direct = f'"{function.name}GetWorkspaceSize"', f"&{call}", "nullptr"
    else:
        direct = f"&lib::DirectCall<{', '.join(types)}>::call"
        begin, begins = "nullptr", "nullptr"
    fields = [str(index), f'"{function.name}"', begin, f"k_{function.name}", str(count), begins]
    fields.append(direct)
    if function.workspace:
        fields += [f"&{function.workspace}", f"s_{function.name}"]
    return wrapped(f"const Function {function.name} = {{", fields, "};")
