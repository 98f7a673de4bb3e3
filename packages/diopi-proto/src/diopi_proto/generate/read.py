"""Parser and consistency checks of schema/*.yaml."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import yaml

from diopi_proto.generate.dtype_rules import check_rule
from diopi_proto.generate.model import OPERATOR_HEADERS, Schema, schema_from
from diopi_proto.schema import (
    Direction,
    Layout,
    OpClass,
    Operator,
    Parameter,
    expand_dtypes,
    fingerprint,
)

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONTEXT = Parameter("ctx", "diopiContextHandle_t")
_FAMILY_KEYS = {"family", "summary", "operators"}
_OPERATOR_KEYS = {
    *("name", "header", "in_place_of", "gradient_of", "op_class", "dtypes", "doc", "params"),
}
_PARAMETER_KEYS = {field.name for field in fields(Parameter)}


class SchemaError(ValueError):
    """The YAML is inconsistent; the message names file, operator and value."""


def read_schema(folder: Path) -> Schema:
    """Read the schema in ``folder``.

    :raises SchemaError: the YAML contradicts itself.
    """
    operators: dict[str, Operator] = {}
    families: dict[str, str] = {}
    runtime: dict[str, Any] | None = None
    for path in sorted(folder.glob("*.yaml")):
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)
        if path.name == "runtime.yaml":
            runtime = data
            continue
        _require(data.keys() == _FAMILY_KEYS, path.name, f"keys {sorted(data)}")
        _require(data["family"] == path.stem, path.name, f"family {data['family']!r}")
        families[data["family"]] = data["summary"]
        for entry in data["operators"]:
            operator = _operator(entry, data["family"], path.name)
            _require(operator.name not in operators, path.name, f"{operator.name} is defined twice")
            operators[operator.name] = operator
    if runtime is None:
        raise SchemaError(f"{folder} has no runtime.yaml")
    for operator in operators.values():
        for other in (operator.in_place_of, operator.gradient_of):
            _require(other is None or other in operators, operator.name, f"no operator {other}")
    return schema_from(runtime, tuple(operators.values()), families)


def _require(condition: bool, where: str, what: str) -> None:
    if not condition:
        raise SchemaError(f"{where}: {what}")


def _operator(entry: dict[str, Any], family: str, file: str) -> Operator:
    where = f"{file}: {entry.get('name')}"
    _require(entry.keys() <= _OPERATOR_KEYS, where, f"keys {sorted(entry.keys() - _OPERATOR_KEYS)}")
    operator = Operator(
        name=entry["name"],
        header=entry.get("header", OPERATOR_HEADERS[0]),
        family=family,
        params=(_CONTEXT, *(_parameter(p, where) for p in entry["params"])),
        doc=entry["doc"],
        op_class=entry["op_class"],
        dtypes=entry["dtypes"],
        fingerprint=0,
        in_place_of=entry.get("in_place_of"),
        gradient_of=entry.get("gradient_of"),
    )
    _require(operator.header in OPERATOR_HEADERS, where, f"header {operator.header}")
    _require(operator.op_class in get_args(OpClass), where, f"op_class {operator.op_class}")
    expand_dtypes(operator.dtypes)
    operator = _with_dtype_rules(operator)
    _check_names(operator, where)
    return replace(operator, fingerprint=fingerprint(operator))


def _parameter(entry: dict[str, Any], where: str) -> Parameter:
    where = f"{where}({entry.get('name')})"
    unknown = entry.keys() - _PARAMETER_KEYS
    _require(not unknown, where, f"keys {sorted(unknown)}")
    arguments = dict(entry)
    for key in ("may_alias", "values"):
        if key in entry:
            arguments[key] = tuple(str(item) for item in entry[key])
    parameter = Parameter(**arguments)
    _require(parameter.direction in get_args(Direction), where, f"direction {parameter.direction}")
    constant = parameter.value_type == "diopiConstTensorHandle_t" or (
        parameter.type.startswith("const ") and parameter.type.endswith("*")
    )
    _require(
        not constant or parameter.direction == "in",
        where,
        "a const parameter must have direction in",
    )
    handles = parameter.is_tensor_pointer or parameter.type == "diopiGeneratorHandle_t*"
    _require(
        handles == (parameter.counted_by is not None) == (parameter.allocated_by is not None),
        where,
        "arrays of handles, and nothing else, have counted_by and allocated_by",
    )
    _require(
        parameter.allocated_by != "vendor" or parameter.direction == "out",
        where,
        "handles that the vendor stores are outputs",
    )
    _require(parameter.dtype is None or _is_tensor(parameter), where, "only tensors have a dtype")
    _require(parameter.layout in get_args(Layout), where, f"layout {parameter.layout}")
    _require(
        parameter.layout == "strided" or (parameter.is_tensor and parameter.direction == "in"),
        where,
        "only inputs can be sparse: no operator returns a sparse tensor",
    )
    return parameter


def _is_tensor(parameter: Parameter) -> bool:
    return parameter.is_tensor or parameter.is_tensor_pointer


def _with_dtype_rules(operator: Operator) -> Operator:
    """Add dtype rules to tensors without one: the operator's dtypes to the first input, and
    ``like`` that input to all other tensors.
    """
    sharing = [p for p in operator.params if _is_tensor(p) and p.dtype is None]
    if not sharing:
        return operator
    readable = [p for p in sharing if p.direction != "out"]
    required = [p for p in readable or sharing if not p.nullable]
    leader = (required or readable or sharing)[0]

    def rule(parameter: Parameter) -> Parameter:
        if parameter is leader:
            return replace(parameter, dtype=operator.dtypes)
        if parameter in sharing:
            return replace(parameter, dtype=f"like {leader.name}")
        return parameter

    return replace(operator, params=tuple(map(rule, operator.params)))


def _check_names(operator: Operator, where: str) -> None:
    by_name = {p.name: p for p in operator.params}
    _require(len(by_name) == len(operator.params), where, "two parameters share a name")
    for parameter in operator.params:
        for other in parameter.may_alias:
            _require(
                parameter.direction == "out" and other in by_name and _is_tensor(by_name[other]),
                where,
                f"{parameter.name} cannot alias {other}",
            )
        counter = parameter.counted_by
        if isinstance(counter, str):
            _require(
                counter in by_name and by_name[counter].value_type == "int64_t",
                where,
                f"{counter} does not count {parameter.name}",
            )
        if parameter.dtype is not None:
            try:
                check_rule(parameter.dtype, operator)
            except ValueError as error:
                raise SchemaError(f"{where}({parameter.name}): {error}") from error
