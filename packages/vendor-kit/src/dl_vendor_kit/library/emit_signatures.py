"""A C++ source that compiles only if the signature table agrees with the library's header."""

from __future__ import annotations

from .model import Library
from .names import quoted
from .signatures import Function
from .text import banner


def source(library: Library) -> str:
    """Return ``signatures.gen.cpp``."""
    headers = dict.fromkeys((*library.declarations, library.header))
    includes = "\n".join(f'#include "{x}"' for x in headers)
    checks = "\n".join(_checks(library, x) for x in library.functions.values())
    return f"""{banner(f"Comparison of the signature table with {library.header}.")}
#include <cstdint>

#include "dl/kit/library/functions.h"
{includes}

// The compiler reports a difference at the function's line of the table.
{checks}
"""


def _checks(library: Library, function: Function) -> str:
    types = [a.type for a in function.arguments]
    declared = {function.name: types}
    if library.shape == "two_phase":
        declared = {
            f"{function.name}GetWorkspaceSize": [*types, "uint64_t*", f"{library.executor}**"],
            function.name: ["void*", "uint64_t", f"{library.executor}*", library.stream],
        }
    return "\n".join(
        _check(library, name, taken, function.line) for name, taken in declared.items()
    )


def _check(library: Library, name: str, types: list[str], line: int) -> str:
    described = f"{library.status} (*)({', '.join(types)})"
    message = (
        f"{library.header} declares {name} otherwise than {library.table}, line {line}: "
        f"{described}; correct the table, or 'status' of library.yaml"
    )
    # On one line, which the compiler reports as that of the table.
    return (
        f"#line {line} {quoted(library.table)}\n"
        f"static_assert(::dl::kit::library::same_function<decltype(&{name}), {described}>, "
        f"{quoted(message)});"
    )
