"""Operators of the contract, and the assignment of a call's values to their parameters."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import yaml
from problems import EntryError, unknown
from rows import Use, Value

from diopi_proto.schema import Operator, Parameter, load

RUNTIME = Path(__file__).parents[2] / "diopi-proto" / "schema" / "runtime.yaml"


@functools.cache
def enumerators() -> dict[str, tuple[str, ...]]:
    """Return the values of each enum of the contract."""
    enums = yaml.safe_load(RUNTIME.read_text("utf-8"))["enums"]
    return {enum["name"]: tuple(enum["values"]) for enum in enums}


def operator(name: str) -> Operator:
    """Return the contract operator of this name.

    :raises EntryError: it does not exist.
    """
    operators = load()
    if name not in operators:
        raise unknown(name, "operator of the contract", operators)
    return operators[name]


def has_length(parameter: Parameter, following: Parameter | None) -> bool:
    """Return True if the next parameter is the length of this array of inputs."""
    return (
        parameter.type == "diopiConstTensorHandle_t*"
        and following is not None
        and parameter.counted_by == following.name
    )


def match_values(call: Use) -> list[tuple[Parameter, Value]]:
    """Return the parameters of a call with their values, without lengths of arrays.

    :raises EntryError: the number of values differs from the number of parameters.
    """
    parameters = operator(call.name).params[1:]
    taking = [
        p
        for p, before in zip(parameters, (None, *parameters), strict=False)
        if before is None or not has_length(before, p)
    ]
    if len(taking) != len(call.values):
        names = ", ".join(p.name for p in taking)
        raise EntryError(
            f"{call.name} takes {len(taking)} values ({names}), not {len(call.values)}"
        )
    return list(zip(taking, call.values, strict=True))


def is_output(value: Value) -> bool:
    """Return True if a value of a call is one of the operator's outputs."""
    return isinstance(value, str) and re.fullmatch(r"out\d?", value) is not None


def allocates(call: Use) -> bool:
    """Return True if the operator itself allocates its output, with diopiRequireTensor."""
    return any(p.allocated_by == "vendor" for p in operator(call.name).params)
