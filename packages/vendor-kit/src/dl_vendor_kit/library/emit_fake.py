"""The structural part of a fake library: functions with their true C types, and documented facts.

The fake itself implements ``begin`` and ``execute`` (two_phase) or ``call`` (direct). It gets
names, types, dtypes, formats and strides from here, and nothing about the operators.
"""

from __future__ import annotations

from .model import TYPE_KINDS, Library
from .signatures import Argument, Function
from .text import banner, declarations, include_guard, wrapped

# Members of a Value, with the conversion to them, by kind; other kinds are objects.
_MEMBERS = {
    "integer": "integer = static_cast<int64_t>({})",
    "boolean": "integer = static_cast<int64_t>({})",
    "dtype": "integer = static_cast<int64_t>({})",
    "workspace_size": "integer = static_cast<int64_t>({})",
    "floating": "number = static_cast<double>({})",
    "string": "text = {}",
}


def _namespace(library: Library) -> str:
    return f"fake_{library.namespace.rsplit('::', 1)[-1]}"


def header(library: Library) -> str:
    """Return ``functions.gen.h``."""
    guard = include_guard(library, "fake")
    two_phase = library.shape == "two_phase"
    described = library.shape == "handle_descriptors"
    # Only tensors of such libraries are described by another argument.
    descriptor = workspace = ""
    if described:
        workspace = "  const char* workspace;  // function that sizes the workspace; NULL: none\n"
        descriptor = (
            "  int descriptor;  // position of what describes a pointer; -1: nothing does\n"
        )
    if two_phase:
        hooks = f"""\
// Implemented by the fake: the first phase, which checks and records a call, and the second one.
int begin(const Function& function, const Value* values, uint64_t* bytes,
          {library.executor}** executor);
int execute(const Function& function, void* workspace, uint64_t bytes, {library.executor}* executor,
            {library.stream} stream);"""
    else:
        hooks = """\
// Implemented by the fake: checks a call and enqueues its work.
int call(const Function& function, const Value* values);"""
    about = banner("Functions of the library, with the documented facts about their arguments.")
    return f"""{about}
#ifndef {guard}
#define {guard}

#include <cstdint>

{declarations(library)}

namespace {_namespace(library)} {{

enum class Kind {{ {", ".join(f"k_{x}" for x in TYPE_KINDS)} }};

// Sets of dtypes and formats have bit n for the library's number n; 0: undocumented. `min_ndim` -1:
// undocumented.
struct Argument {{
  const char* name;
  const char* type;
  Kind kind;
  bool reads, writes, strided, optional;
  uint64_t dtypes, formats;
  int min_ndim, max_ndim;
{descriptor}}};

struct Function {{
  const char* name;
  const Argument* arguments;
  int count;
{workspace}}};

// The value of an argument, in the member of its kind.
union Value {{
  const void* object;
  int64_t integer;
  double number;
  const char* text;
}};

{hooks}

}}  // namespace {_namespace(library)}

#endif  // {guard}
"""


def source(library: Library) -> str:
    """Return ``functions.gen.cpp``."""
    functions = list(library.functions.values())
    tables = "\n".join(_table(library, f) for f in functions)
    entries = "\n".join(f"    {{{_entry(library, f)}}}," for f in functions)
    exports = "\n".join(_exports(library, f, i) for i, f in enumerate(functions))
    return f"""{banner("The fake's exported functions.")}
#include "functions.gen.h"

#define DL_FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {_namespace(library)} {{
namespace {{

{tables}

const Function kFunctions[] = {{
{entries}
}};

}}  // namespace
}}  // namespace {_namespace(library)}

using namespace {_namespace(library)};

{exports}
"""


def _bits(numbers: list[int]) -> str:
    value = 0
    for number in numbers:
        value |= 1 << number
    return hex(value)


def _table(library: Library, function: Function) -> str:
    rows = []
    for position, a in enumerate(function.arguments):
        flags = ", ".join(
            "true" if x else "false" for x in (a.reads, a.writes, a.strided, a.optional)
        )
        dtypes = _bits([library.dtypes[x] for x in a.dtypes if x in library.dtypes])
        formats = _bits([library.formats[x] for x in a.formats if x in library.formats])
        low, high = a.ndim or (-1, -1)
        rows.append(
            f'    {{"{a.name}", "{a.type}", Kind::k_{_kind(library, a)}, {flags}, '
            f"{dtypes}, {formats}, {low}, {high}{_descriptor(library, function, position)}}},"
        )
    if not rows:
        return f"constexpr const Argument* k_{function.name} = nullptr;"
    return f"const Argument k_{function.name}[] = {{\n" + "\n".join(rows) + "\n};"


def _entry(library: Library, function: Function) -> str:
    fields = [f'"{function.name}"', f"k_{function.name}", str(len(function.arguments))]
    if library.shape == "handle_descriptors":
        fields.append(f'"{function.workspace}"' if function.workspace else "nullptr")
    return ", ".join(fields)


def _descriptor(library: Library, function: Function, position: int) -> str:
    """Return the position of the descriptor of a pointer, for libraries that have descriptors."""
    if library.shape != "handle_descriptors":
        return ""
    argument = function.arguments[position]
    found = function.find(argument.descriptor) if argument.descriptor else None
    if found is None and position > 0:
        previous = library.kind(function.arguments[position - 1].type)
        if previous in ("descriptor", "descriptors"):
            found = position - 1
    return f", {-1 if found is None else found}"


def _kind(library: Library, argument: Argument) -> str:
    return library.kind(argument.type) or "integer"


def _exports(library: Library, function: Function, index: int) -> str:
    parameters = [f"{a.type} {a.name}" for a in function.arguments]
    values = [_value(library, a) for a in function.arguments]
    status = library.status
    if library.shape == "two_phase":
        first = wrapped(
            f"DL_FAKE_EXPORT {status} {function.name}GetWorkspaceSize(",
            [*parameters, "uint64_t* workspace_size_", f"{library.executor}** executor_"],
            ") {",
        )
        filled = _filled(values)
        called = f"kFunctions[{index}]"
        begun = f"begin({called}, values_, workspace_size_, executor_)"
        executed = f"execute({called}, workspace_, bytes_, executor_, stream_)"
        executor = f"{library.executor}* executor_"
        return f"""{first}
{filled}
  return {_status(library, begun)};
}}
DL_FAKE_EXPORT {status} {function.name}(void* workspace_, uint64_t bytes_, {executor},
                                   {library.stream} stream_) {{
  return {_status(library, executed)};
}}"""
    first = wrapped(f"DL_FAKE_EXPORT {status} {function.name}(", parameters, ") {")
    return f"""{first}
{_filled(values)}
  return {_status(library, f"call(kFunctions[{index}], values_)")};
}}"""


def _status(library: Library, result: str) -> str:
    """Return a result of a hook as the library's type of statuses, which may be an enumeration."""
    return result if library.status == "int" else f"static_cast<{library.status}>({result})"


def _filled(values: list[str]) -> str:
    lines = [f"  Value values_[{max(len(values), 1)}] = {{}};"]
    lines += [f"  values_[{i}].{value};" for i, value in enumerate(values)]
    return "\n".join(lines)


def _value(library: Library, argument: Argument) -> str:
    return _MEMBERS.get(_kind(library, argument), "object = {}").format(argument.name)
