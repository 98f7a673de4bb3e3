"""The C++ sources of the operators: one function per operator, and the table."""

from __future__ import annotations

import re
from collections.abc import Iterable

from diopi_proto.schema import DTYPES, Parameter, expand_dtypes

from .checked import Checked, CheckedCase, CheckedEntry
from .lowered import NS
from .model import Library
from .names import quoted
from .text import banner, include_guard, wrapped

_KIT = "dl/kit/library"
_RANDOM = re.compile(r"library::(draw_|read_|filled|ones_)")


def operators_header(checked: Checked) -> str:
    """Return ``operators.gen.h``: the generated operators."""
    library = checked.library
    guard = include_guard(library, "operators")
    lines = "\n".join(f"{_prototype(e)};" for e in checked.entries)
    return f"""{banner("The operators of the contract that the library serves.")}
#ifndef {guard}
#define {guard}

#include "diopi/functions.h"
#include "diopi/functions_dl.h"
#include "diopi/functions_ext.h"
#include "diopi/functions_lmdeploy.h"
#include "diopi/functions_mmcv.h"
#include "dl/kit/operators.h"

namespace {library.namespace} {{

namespace operators {{
{lines}
}}  // namespace operators

// All of them, for the slot `operators`.
dl::kit::Operators served_operators();

}}  // namespace {library.namespace}

#endif  // {guard}
"""


def table_source(checked: Checked) -> str:
    """Return ``operators.gen.cpp``: the table, on behalf of the vendor's class."""
    library = checked.library
    vendor = library.vendor_class
    rows = "\n".join(
        f"    DL_KIT_OPERATOR({vendor}, operators, {e.operator.name})," for e in checked.entries
    )
    return f"""{banner("The table of operators.")}
#include "operators.gen.h"

#include "functions.gen.h"
#include "{library.vendor_header}"

namespace {library.namespace} {{

lib::Backend& backend_of(diopiContextHandle_t ctx) {{
  return dl::kit::vendor_of<{vendor}>(ctx).operator_library(ctx);
}}

namespace {{
const dl_operator_t kOperators[] = {{
{rows}
}};
}}  // namespace

dl::kit::Operators served_operators() {{ return kOperators; }}

}}  // namespace {library.namespace}
"""


def family_source(checked: Checked, family: str, entries: Iterable[CheckedEntry]) -> str:
    """Return ``FAMILY.gen.cpp``: one function per operator."""
    library = checked.library
    headers = "".join(f'#include "{x}"\n' for x in library.headers)
    bodies = "\n\n".join(_operator(library, e) for e in entries)
    # Headers that only some families need take time to compile.
    random = f'#include "{_KIT}/random.h"\n' if _RANDOM.search(bodies) else ""
    return f"""{banner(f"Operators of the family {family}.")}
#include "{_KIT}/helpers.h"
#include "{_KIT}/plan.h"
{random}#include "functions.gen.h"
#include "operators.gen.h"
{headers}
namespace {library.namespace} {{
namespace operators {{

{bodies}

}}  // namespace operators
}}  // namespace {library.namespace}
"""


def _prototype(entry: CheckedEntry, used: str | None = None) -> str:
    """Return the declaration, or the head of the definition whose body is ``used``."""
    parameters = []
    for p in entry.operator.params:
        name = "ctx_" if p.type == "diopiContextHandle_t" else f"{p.name}_"
        named = used is not None and re.search(rf"\b{name}\b", used)
        parameters.append(f"{p.value_type} {name}" if named else p.value_type)
    return wrapped(f"diopiError_t {entry.operator.name}(", parameters, ")")


def _operator(library: Library, entry: CheckedEntry) -> str:
    checks = _dtype_checks(entry)
    cases = "\n".join([*checks, *(_case(library, entry, case) for case in entry.cases)])
    locals_ = [
        _local(p, entry.kinds[p.name] or "")
        for p in entry.operator.params[1:]
        if entry.kinds[p.name] and re.search(rf"\b{p.name}\b", cases)
    ]
    name = entry.operator.name
    lines = [f'  lib::Call call_(ctx_, "{name}", backend_of(ctx_));', *locals_, cases]
    body = "\n".join([*lines, "  call_.decline();"])
    return f"{_prototype(entry, body)} {{\n{body}\n}}"


def _dtype_checks(entry: CheckedEntry) -> list[str]:
    """Return checks of the dtypes that the contract allows.

    Libraries convert dtypes where the contract has equal ones.
    """
    operator = entry.operator
    tensors = {p.name for p in operator.params if entry.kinds.get(p.name) in ("tensor", "tensors")}
    lines = []
    for p in operator.params:
        rule = p.dtype
        if p.name not in tensors or rule is None:
            continue
        like = rule.removeprefix("like ")
        if like != rule:
            if like in tensors:
                lines.append(f'  {NS}::require_same_dtype({p.name}, "{p.name}", {like}, "{like}");')
            continue
        try:
            allowed = expand_dtypes(rule, operator.dtypes)
        except ValueError:
            derived = _derived_dtype(rule, entry)
            if derived is not None and p.direction != "in" and entry.kinds[p.name] == "tensor":
                name = p.name
                lines.append(
                    wrapped(
                        f"  {NS}::require_output_dtype(",
                        [name, quoted(name), derived, quoted(rule)],
                        ");",
                        " " * 6,
                    )
                )
            continue
        if len(allowed) < len(DTYPES):
            lines.append(f'  {NS}::require_dtype({p.name}, {_dtype_bits(allowed)}, "{p.name}");')
    return lines


# Functions of dtype_rules.h for the first words of rules.
_DERIVED = {
    "float of ": "float_of",
    "real of ": "real_of",
    "complex of ": "complex_of",
    "accumulate ": "accumulate",
}


def _derived_dtype(rule: str, entry: CheckedEntry) -> str | None:
    """Return the code of the dtype that a rule derives from other parameters.

    None if it depends on a parameter that expressions cannot use.
    """
    for words, function in _DERIVED.items():
        if rule.startswith(words):
            inner = _derived_dtype(rule.removeprefix(words), entry)
            return None if inner is None else f"{NS}::{function}({inner})"
    operands = rule.removeprefix("promote ").split()
    if any(entry.kinds.get(name) not in ("tensor", "scalar") for name in operands):
        return None
    return f"{NS}::promote({{{', '.join(f'{NS}::operand({name})' for name in operands)}}})"


def _dtype_bits(dtypes: Iterable[str]) -> str:
    return hex(sum(1 << DTYPES.index(dtype) for dtype in dtypes))


def _local(parameter: Parameter, kind: str) -> str:
    name = parameter.name
    raw = f"{name}_"
    mark = "  const"
    match kind:
        case "tensor":
            return f"{mark} {NS}::View {name} = {NS}::view_of({raw});"
        case "tensors":
            counted = parameter.counted_by
            count = counted if isinstance(counted, int) else f"{counted}_"
            return f"{mark} {NS}::Views {name} = {NS}::views_of({raw}, {count});"
        case "scalar":
            return f"{mark} {NS}::Scalar {name} = {NS}::scalar_of({raw});"
        case "ints":
            return f"{mark} {NS}::Ints {name} = {NS}::ints_of({raw});"
        case "int":
            return f"{mark} int64_t {name} = static_cast<int64_t>({raw});"
        case "double":
            return f"{mark} double {name} = static_cast<double>({raw});"
        case "dtype":
            return f"{mark} {NS}::Dtype {name}{{static_cast<int32_t>({raw})}};"
    return f"{mark} auto {name} = {raw};"


def _case(library: Library, entry: CheckedEntry, checked: CheckedCase) -> str:
    case = checked.case
    number = case.number
    lines = []
    calls = [*checked.calls, *checked.workspaces.values()]
    functions = [x.function.name for x in calls if x.function is not None]
    needed = [*dict.fromkeys((*functions, *checked.needs))]
    if needed:
        missing = " && ".join(f"call_.has(functions::{x})" for x in needed)
        lacking = needed[0] if len(needed) == 1 else f"one of {', '.join(needed)}"
        reason = quoted(f"the library does not have {lacking}")
        lines.append(f"  if (!({missing})) {{\n    call_.note({number}, {reason});\n  }} else ")
    conditions = []
    if checked.when is not None:
        text = "" if case.when is None else case.when.text
        reason = quoted(f"not {text}" if re.fullmatch(r"[\w.]+", text) else f"not ({text})")
        conditions.append(
            f"{NS}::holds(call_, {number}, {reason}, [&] {{ return {checked.when}; }})"
        )
    head = lines.pop() if lines else "  "
    if case.function:
        condition = f"if ({conditions[0]}) " if conditions else ""
        arguments = ", ".join(["call_", *(f"{p.name}_" for p in entry.operator.params[1:])])
        return (
            f"{head}{condition}{{\n    const diopiError_t error_ = {case.function}({arguments});\n"
            "    if (error_ != diopiNoImplement) return error_;\n"
            f'    call_.note({number}, "{case.function} declines");\n  }}'
        )
    body = _body(library, checked)
    captures = _captures(library, entry, checked)
    if captures:
        # As part of the plan: a dtype that is declined there leaves the next case to try.
        body = f"        [&, {', '.join(captures)}] {{\n{body}\n        }}();"
    conditions.append(
        f"{NS}::attempt(call_, {number}, [&]({NS}::Plan& plan_) {{\n{body}\n      }})"
    )
    return f"{head}if ({' && '.join(conditions)}) {{\n    return diopiSuccess;\n  }}"


def _captures(library: Library, entry: CheckedEntry, checked: CheckedCase) -> list[str]:
    """Return copies of parameters with this case's format, strides and dtypes.

    They are computed when the case is planned, because they may decline it.
    """
    case = checked.case
    found = []
    everywhere = case.format.get("")
    for p in entry.operator.params[1:]:
        name = p.name
        if entry.kinds[name] not in ("tensor", "tensors"):
            continue
        code = name
        chosen = case.format.get(name, everywhere)
        if chosen is not None:
            code = f"{NS}::formatted({code}, {library.formats[chosen]})"
        if any(x.text == name for x in case.contiguous):
            code = f"{NS}::only_contiguous({code})"
        if name in checked.dtypes:
            code = f'{NS}::of_dtypes({code}, {_dtype_bits(checked.dtypes[name])}, "{name}")'
        if name in checked.upcast:
            reads = "true" if p.direction != "out" else "false"
            writes = "true" if checked.upcast[name] else "false"
            code = f"plan_.upcast({code}, {reads}, {writes})"
        if code != name:
            found.append(f"{name} = {code}")
    return found


def _end_of_call(checked: CheckedCase, function: str) -> str:
    sizing = checked.workspaces.get(function) or checked.workspaces.get("")
    if sizing is None:
        return "});"
    given = ", ".join(sizing.arguments)
    if sizing.function is None:
        return f"}}, {given});"
    return f"}}, functions::{sizing.function.name}, {{{given}}});"


def _body(library: Library, checked: CheckedCase) -> str:
    everywhere = checked.case.format.get("")
    lines = []
    for name, code in checked.temporaries:
        made = code
        if everywhere is not None:
            made = f"{NS}::formatted({code}, {library.formats[everywhere]})"
        lines.append(f"const {NS}::View tmp_{name} = {made};")
    for call in checked.calls:
        if call.function is None:
            line = f"plan_.act({call.arguments[0]});"
        else:
            end = _end_of_call(checked, call.function.name)
            line = wrapped(
                f"plan_.call(functions::{call.function.name}, {{",
                list(call.arguments),
                end,
                " " * 12,
            )
        lines.append(f"if ({call.condition}) {line}" if call.condition is not None else line)
    indent = "        "
    if checked.each is not None:
        inner = "\n".join(f"{indent}  {line}" for line in lines)
        return f"{indent}for (int64_t i = 0; i < {checked.each}; ++i) {{\n{inner}\n{indent}}}"
    return "\n".join(f"{indent}{line}" for line in lines)
