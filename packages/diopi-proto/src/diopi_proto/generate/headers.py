"""The C headers: types, runtime functions, operators and fingerprints."""

from __future__ import annotations

from diopi_proto.generate.model import (
    NOTICE,
    OPERATOR_HEADERS,
    Enum,
    Field,
    Function,
    Schema,
    Struct,
)
from diopi_proto.generate.text import comment, prototype, remark, wrapped
from diopi_proto.schema import Operator, Parameter, canonical_signature

TITLES = {
    "functions.h": "The operators that models and optimizers need.",
    "functions_ext.h": "Operators for large language models: attention, rotary embedding, norms.",
    "functions_mmcv.h": "Operators of detection and point-cloud models.",
    "functions_lmdeploy.h": "Operators of a language-model server: fused layers and sampling.",
    "functions_sparse.h": "Operators on sparse tensors.",
    "functions_dl.h": "Operators that DIOPI does not have, prefixed with dlop.",
}

CONVENTIONS = (
    "Every operator enqueues its work on the stream of `ctx` and may return before the device has "
    "finished. Handles and the data that they point to are valid until the operator returns; an "
    "operator reads sizes, scalars and strings before it returns. Outputs are allocated by the "
    "caller, with the documented shape and dtype, unless documented otherwise. Inputs and outputs "
    "may have any strides. An output shares memory with an input only where documented. An "
    "operator that does not support its arguments returns diopiNoImplement or "
    "diopiDtypeNotSupported without writing to an output.",
    "Dtype groups: float is float16, bfloat16, float32, float64; complex is complex64, complex128; "
    "integer is uint8, int8, int16, int32, int64; real is float and integer; number is real and "
    'complex; all is number and bool. "promote a b" is the dtype that PyTorch\'s promotion gives, '
    '"float of a" that of a if it is float or complex, else float32, "real of a" and "complex of '
    'a" the corresponding real or complex dtype, "accumulate a" float32 for a half-precision a.',
)
"""Paragraphs about all operators, for the headers and for docs/operators.md."""


def headers(schema: Schema) -> dict[str, str]:
    """Return the text of each header by its path below include/."""
    files = {
        "diopi/types.gen.h": _types(schema),
        "diopi/diopirt.h": _runtime(schema),
        "diopi/fingerprints.gen.h": _fingerprints(schema),
    }
    for name in OPERATOR_HEADERS:
        files[f"diopi/{name}"] = _operators(schema, name)
    return files


def _guarded(name: str, body: str, title: str = "") -> str:
    guard = "DIOPI_" + name.replace(".", "_").upper() + "_"
    head = f"/* {NOTICE} */\n" if not title else f"/* {title}\n * {NOTICE} */\n"
    head += "/* clang-format off */\n"
    return f"{head}#ifndef {guard}\n#define {guard}\n\n{body.strip()}\n\n#endif\n"


def _extern_c(body: str) -> str:
    opening = '#ifdef __cplusplus\nextern "C" {\n#endif\n'
    closing = "#ifdef __cplusplus\n}\n#endif\n"
    return f"{opening}\n{body.strip()}\n\n{closing}"


def _enum(enum: Enum) -> str:
    lines = []
    for value in enum.values:
        line = f"  {value.name} = {value.value},"
        lines.append(f"{line} /* {value.doc} */" if value.doc else line)
    return "\n".join([comment([enum.doc]), "typedef enum {", *lines, f"}} {enum.name};"])


def _field(field: Field, indent: str) -> str:
    if field.union:
        members = "\n".join(_field(member, indent + "  ") for member in field.union)
        return f"{indent}union {{\n{members}\n{indent}}};"
    return f"{indent}{field.type} {field.name};"


def _struct(struct: Struct) -> str:
    fields = "\n".join(_field(field, "  ") for field in struct.fields)
    return f"{comment([struct.doc])}\ntypedef struct {{\n{fields}\n}} {struct.name};"


def _types(schema: Schema) -> str:
    version = "\n".join(
        f"#define DIOPI_VERSION_{part} {number}"
        for part, number in zip(("MAJOR", "MINOR", "PATCH"), schema.version, strict=True)
    )
    text = ".".join(map(str, schema.version))
    blocks = [_enum(enum) for enum in schema.enums]
    blocks += [_struct(struct) for struct in schema.structs]
    blocks += [
        f"{comment([typedef.doc])}\ntypedef {typedef.type} {typedef.name};"
        for typedef in schema.typedefs
    ]
    for handle in schema.handles:
        lines = [comment([handle.doc]), f"struct {handle.name};"]
        lines.append(f"typedef struct {handle.name}* {handle.mutable};")
        if handle.const:
            lines.append(f"typedef const struct {handle.name}* {handle.const};")
        blocks.append("\n".join(lines))
    body = f"""#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

{version}
#define DIOPI_VERSION_STRING "{text}"

/* Operators are declared, not exported: hosts find them through the vendor table. A library in
 * DIOPI's own convention, whose operators are found by name, defines DIOPI_EXPORT_SYMBOLS. */
#ifdef DIOPI_EXPORT_SYMBOLS
#define DIOPI_VISIBILITY __attribute__((visibility("default")))
#else
#define DIOPI_VISIBILITY
#endif
#ifdef __cplusplus
#define DIOPI_API extern "C" DIOPI_VISIBILITY
#else
#define DIOPI_API extern DIOPI_VISIBILITY
#endif

""" + _extern_c("\n\n".join(blocks))
    return _guarded("types.gen.h", body)


def _function(api: str, function: Function | Operator, paragraphs: list[str]) -> str:
    params = [f"{p.type} {p.name}" for p in function.params]
    head = f"{api} {function.returns} {function.name}"
    return f"{comment(paragraphs)}\n{prototype(head, params)}"


def _runtime(schema: Schema) -> str:
    functions = "\n\n".join(_function("DIOPI_RT_API", f, [f.doc]) for f in schema.runtime)
    body = f"""#include "dl/handles.h"

/* These functions are compiled in one of three ways:
 *   default            inline; they read the struct prefixes declared in dl/handles.h, so that no
 *                      library is needed;
 *   DIOPIRT_EXTERN     declared only, for libraries in DIOPI's own convention;
 *   DIOPIRT_IMPLEMENT  defined and exported; csrc/diopirt.c builds libdiopirt.so.1 this way.
 *
 * For a NULL handle, or one that does not begin with its prefix, they return diopiErrorOccurred
 * and write nothing. */
#if defined(DIOPIRT_EXTERN) && !defined(DIOPIRT_IMPLEMENT)
#define DIOPI_RT_API extern
#elif defined(DIOPIRT_IMPLEMENT)
#define DIOPI_RT_API DL_EXPORT
#else
#define DIOPI_RT_API static inline
#endif

DL_EXTERN_C_BEGIN

{functions}

DL_EXTERN_C_END

#if !defined(DIOPIRT_EXTERN) || defined(DIOPIRT_IMPLEMENT)
#include "diopi/runtime_inline.h"
#endif
"""
    return _guarded("diopirt.h", body, "Functions that a host offers to running operators.")


def _dtype_phrase(rule: str, dtypes: str) -> str:
    """Return a dtype rule in words, with the operator's ``dtypes`` spelled out."""
    if "any" not in rule.split(", "):
        return f"dtype {rule}"
    own = "any dtype" if dtypes == "all" else f"any dtype of {dtypes}"
    rest = ", ".join(word for word in rule.split(", ") if word != "any")
    return f"{own}, or {rest}" if rest else own


def describe(parameter: Parameter, dtypes: str) -> list[str]:
    """Return clauses that describe a parameter of an operator with these ``dtypes``."""
    clauses: list[str] = []
    if parameter.dtype:
        clauses.append(_dtype_phrase(parameter.dtype, dtypes))
    if parameter.layout == "csr":
        clauses.append("sparse CSR")
    if parameter.allocated_by == "vendor":
        count = parameter.counted_by or 1
        stored = "handle stored" if count == 1 else f"{count} handles stored"
        clauses.append(f"{stored} by the operator, owned by the context")
    elif parameter.counted_by is not None:
        clauses.append(f"array of {parameter.counted_by}")
    if parameter.nullable:
        clauses.append("may be absent" if parameter.value_type == "diopiSize_t" else "may be NULL")
    if parameter.nullable_entries:
        clauses.append("entries may be NULL")
    if parameter.may_alias:
        clauses.append("may share memory with " + ", ".join(parameter.may_alias))
    if parameter.values:
        quote = '"' if parameter.type == "const char*" else ""
        clauses.append("one of " + ", ".join(f"{quote}{v}{quote}" for v in parameter.values))
    if parameter.doc:
        clauses.append(parameter.doc)
    return clauses


def _operator_doc(operator: Operator) -> list[str]:
    paragraphs = [operator.doc]
    for parameter in operator.params[1:]:
        clauses = describe(parameter, operator.dtypes)
        if parameter.direction != "in" or clauses:
            text = "; ".join(clauses)
            paragraphs.append(f"@param[{parameter.direction}] {parameter.name} {text}".rstrip())
    return [p for p in paragraphs if p]


def _operators(schema: Schema, header: str) -> str:
    blocks = []
    if header == OPERATOR_HEADERS[0]:
        blocks += [_function("DIOPI_API", f, [f.doc]) for f in schema.vendor_functions]
    for family, summary in schema.families.items():
        members = [op for op in schema.operators if (op.family, op.header) == (family, header)]
        if members:
            blocks.append(remark(f"{family}: {summary}"))
        blocks += [_function("DIOPI_API", op, _operator_doc(op)) for op in members]
    includes = '#include "diopi/types.gen.h"\n\n'
    title = "\n *\n".join([TITLES[header], *(f" * {wrapped(text)}" for text in CONVENTIONS)])
    return _guarded(header, includes + "\n\n".join(blocks), f"{title}\n *")


def _fingerprints(schema: Schema) -> str:
    lines = [
        f"#define DIOPI_FINGERPRINT_{operator.name} UINT64_C(0x{operator.fingerprint:016x})"
        for operator in schema.operators
    ]
    example = next(op for op in schema.operators if op.name == "diopiRelu")
    body = f"""#include <stdint.h>

/* FNV-1a, 64 bits, over the signature written as
 *   {canonical_signature(example)}
 * without parameter names and without const on parameters passed by value. Hosts bind an operator
 * only if its name and fingerprint equal those with which the host was compiled. */
""" + "\n".join(lines)
    each = " \\\n".join(f"  DO({operator.name})" for operator in schema.operators)
    body += "\n\n/* DO(diopiRelu) and so on, for every operator. */\n"
    body += f"#define DIOPI_EACH_OPERATOR(DO) \\\n{each}"
    return _guarded("fingerprints.gen.h", body)
