"""Table of the contract's operators and parameters in C++, for the verifier of graphs."""

from __future__ import annotations

from diopi_proto.generate.model import Schema
from diopi_proto.schema import DTYPES, Operator, Parameter, expand_dtypes

_TYPES = {
    "diopiTensorHandle_t": "kTensor",
    "diopiConstTensorHandle_t": "kTensor",
    "diopiGeneratorHandle_t": "kGenerator",
    "diopiTensorHandle_t*": "kTensors",
    "diopiConstTensorHandle_t*": "kTensors",
    "diopiGeneratorHandle_t*": "kGenerators",
    "int64_t": "kInt64",
    "int32_t": "kInt32",
    "int": "kInt32",
    "float": "kFloat",
    "double": "kDouble",
    "bool": "kBool",
    "diopiSize_t": "kSize",
    "diopiSize_t*": "kSizePointer",
    "const int64_t*": "kInt64Pointer",
    "const double*": "kDoublePointer",
    "const bool*": "kBoolPointer",
    "const diopiScalar_t*": "kScalar",
    "diopiScalar_t*": "kScalar",
    "const char*": "kString",
    "diopiMemoryFormat_t": "kMemoryFormat",
    "diopiReduction_t": "kReduction",
    "diopiRoundMode_t": "kRoundMode",
}
_DIRECTIONS = {"in": "kIn", "out": "kOut", "inout": "kInOut"}
_OF_ONE = {
    "like": "kLike",
    "float of": "kFloatOf",
    "real of": "kRealOf",
    "complex of": "kComplexOf",
    "accumulate": "kAccumulate",
}
_ALL = (1 << len(DTYPES)) - 1


def operator_table(schema: Schema, notice: str) -> str:
    """Return the text of ``csrc/operators.gen.h``."""
    rows: list[str] = []
    operators: list[str] = []
    for operator in schema.operators:
        params = operator.params[1:]
        operators.append(
            f'    {{"{operator.name}", DIOPI_FINGERPRINT_{operator.name}, {len(rows)}, '
            f'{len(params)}, "{_refused(operator)}"}},'
        )
        rows += [f"    {_row(operator, parameter)}," for parameter in params]
    return "\n".join(
        [
            f"// {notice}",
            "#pragma once",
            "",
            '#include "diopi/fingerprints.gen.h"',
            '#include "operators.h"',
            "",
            "namespace dl::graph {",
            "",
            "inline constexpr Parameter kParameters[] = {",
            *rows,
            "};",
            "",
            "inline constexpr Operator kOperators[] = {",
            *operators,
            "};",
            "",
            "}  // namespace dl::graph",
            "",
        ]
    )


def _refused(operator: Operator) -> str:
    """Return why graphs cannot call an operator; empty if they can."""
    for parameter in operator.params[1:]:
        if parameter.allocated_by == "vendor":
            return "its results have sizes that depend on data"
        if parameter.layout == "csr":
            return "it takes sparse tensors"
        if parameter.type in ("bool*", "double*", "int64_t*"):
            return "it returns a host scalar"
        if parameter.value_type not in _TYPES:
            return f"graphs do not support {parameter.value_type}"
    return ""


def _row(operator: Operator, parameter: Parameter) -> str:
    positions = {p.name: position for position, p in enumerate(operator.params[1:])}
    kind = _TYPES.get(parameter.value_type, "kRefused")
    if operator.count_of(parameter.name):
        kind = "kCount"
    count = parameter.counted_by
    counted_by = positions[count] if isinstance(count, str) else -1
    fixed = count if isinstance(count, int) else 0
    aliases = sum(1 << positions[name] for name in parameter.may_alias)
    rule, mask, of, other = _dtype_rule(operator, parameter, positions)
    fields = [
        f'"{parameter.name}"',
        f"Type::{kind}",
        f"Direction::{_DIRECTIONS[parameter.direction]}",
        str(parameter.nullable).lower(),
        str(parameter.nullable_entries).lower(),
        str(counted_by),
        str(fixed),
        f"{aliases:#x}",
        f"Rule::{rule}",
        f"{mask:#x}",
        str(of),
        str(other),
        '"' + "|".join(parameter.values) + '"',
    ]
    return "{" + ", ".join(fields) + "}"


def _dtype_rule(
    operator: Operator, parameter: Parameter, positions: dict[str, int]
) -> tuple[str, int, int, int]:
    """Return the kind of the rule, the dtypes that it allows, and the parameters that it names."""
    text = parameter.dtype
    if text is None:
        return "kAmong", _ALL, -1, -1
    words = text.split()
    if text.startswith("promote "):
        return "kPromote", _ALL, positions[words[1]], positions[words[2]]
    if "promote" in words:
        return "kAmong", _ALL, -1, -1
    for prefix, kind in _OF_ONE.items():
        if text.startswith(f"{prefix} "):
            return kind, _ALL, positions[words[-1]], -1
    allowed = expand_dtypes(text, operator.dtypes)
    return "kAmong", sum(1 << DTYPES.index(name) for name in allowed), -1, -1
