"""Graph documents and layouts of a program for many sizes, at one tuple of sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diopi_proto.schema import Parameter
from diopi_proto.schema import load as load_schema
from dl_graph.expression import Json, evaluate

_INTEGERS = ("int64_t", "int32_t", "int")
_FLOATS = ("float", "double")


def specialize(document: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return a graph document without symbols.

    :param sizes: the size of each symbol.
    """
    entries = {name: _entry(entry, sizes) for name, entry in document["entries"].items()}
    return {**document, "entries": entries}


def _entry(entry: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    return {
        **entry,
        "symbols": [],
        "guards": [],
        "plans": [],
        "storages": [
            {**each, "bytes": evaluate(each["bytes"], sizes)} if "bytes" in each else each
            for each in entry["storages"]
        ],
        "values": [
            {
                **each,
                "shape": [evaluate(size, sizes) for size in each["shape"]],
                "strides": [evaluate(step, sizes) for step in each["strides"]],
                "offset": evaluate(each["offset"], sizes),
            }
            for each in entry["values"]
        ],
        "calls": [[name, _arguments(name, given, sizes)] for name, given in entry["calls"]],
    }


def _arguments(
    operator: str, given: Mapping[str, Any], sizes: Mapping[str, int]
) -> dict[str, Json]:
    parameters = {each.name: each for each in load_schema()[operator].params}
    return {name: _argument(parameters[name], value, sizes) for name, value in given.items()}


def _argument(parameter: Parameter, value: Json, sizes: Mapping[str, int]) -> Json:
    """Return an argument without symbols. The type of the parameter decides which lists and texts
    are sizes: see ``docs/graph.md`` of dl-graph."""
    kind = parameter.value_type.removeprefix("const ").removesuffix("*")
    if value is None:
        return None
    if kind == "diopiSize_t":
        return [evaluate(each, sizes) for each in value]
    if kind == "diopiScalar_t":
        whole = "float" not in value["dtype"]
        number = value["value"]
        return {**value, "value": evaluate(number, sizes) if whole else _float(number, sizes)}
    if kind in _INTEGERS:
        return evaluate(value, sizes)
    return _float(value, sizes) if kind in _FLOATS else value


def _float(value: Json, sizes: Mapping[str, int]) -> Json:
    """Return a number in the form of ``float.hex()``; it may be a quotient of two sizes."""
    if not isinstance(value, list):
        return value
    _, a, b = value
    return (evaluate(a, sizes) / evaluate(b, sizes)).hex()
