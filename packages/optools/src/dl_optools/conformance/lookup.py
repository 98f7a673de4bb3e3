"""Lookup of the contract operator that serves a call of an overload, with its arguments.

The source is the table from which dl-core's wrappers are generated
(``contract_calls_gen.json``): at run time the same overload is served by the same operator, unless
the vendor lacks it or a condition of the table does not hold. The caller verifies the result: the
reference of the operator has to agree with torch.
"""

from __future__ import annotations

import functools
import json
import re
from importlib import resources
from typing import Any

import torch

from diopi_proto.schema import Operator, Parameter, expand_dtypes, load
from dl_optools.conformance.errors import NotServedError
from dl_optools.conformance.handwritten import HANDWRITTEN, Bound, ContractCall
from dl_optools.conformance.planned import compute_plan_value

REDUCTIONS = ("none", "mean", "sum")
ROUND_MODES = {None: "RoundModeNone", "floor": "RoundModeFloor", "trunc": "RoundModeTrunc"}
_ELEMENTWISE = ("unary", "binary", "comparison", "ternary", "select")
_LEFT_OUT = {"stable": False, "dim": None, "keepdim": False}
"""Arguments that an overload of the table has, but not the overload that calls it."""
_OUTPUT = re.compile(r"out(\d?)")


@functools.cache
def _rows() -> dict[str, dict[str, Any]]:
    """Return the rows of the table by each overload that they serve."""
    text = resources.files("dl_core").joinpath("contract_calls_gen.json").read_text("utf-8")
    return {form: row for row in json.loads(text) for form in row["forms"]}


def find_contract_call(
    overload: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> ContractCall:
    """Return the contract call for a call of an overload.

    :raises NotServedError: no operator serves the call, or more than one.
    """
    schema = overload._schema
    space, _, name = schema.name.partition("::")
    if schema.overload_name:
        name += f".{schema.overload_name}"
    if space != "aten":
        raise NotServedError("it is not an ATen operator")
    bound = _bound(schema, args, kwargs)
    if name in HANDWRITTEN:
        return HANDWRITTEN[name](bound)
    row = _row(name)
    if row is None:
        raise NotServedError(
            "dl-core's table has no row for it: it is a composite operator or runs on the CPU"
        )
    return _Call(row, {**_LEFT_OUT, **bound}).to_contract_call()


def _row(name: str) -> dict[str, Any] | None:
    """Return the row of an overload, or of the overload that torch calls for it."""
    base, dot, overload = name.partition(".")
    names = [name, f"{base}_{dot}{overload}"]
    if overload == "Scalar":
        names.append(f"{base}.Tensor")
    if not overload:
        names += [f"{base}.{x}" for x in ("stable", "dim", "dim_IntList")]
    return next((_rows()[x] for x in names if x in _rows()), None)


def _bound(schema: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
    """Return all arguments by name, with the defaults of the schema."""
    found = {}
    for at, argument in enumerate(schema.arguments):
        if at < len(args):
            found[argument.name] = args[at]
        elif argument.name in kwargs:
            found[argument.name] = kwargs[argument.name]
        else:
            found[argument.name] = argument.default_value
    return found


class _Call:
    """A row of the table with arguments."""

    def __init__(self, row: dict[str, Any], bound: Bound) -> None:
        self.row = row
        self.bound = bound
        name, values = row["call"]
        if row["scalar"] is not None and len(values) > 2:
            second = bound.get(str(values[2]))
            if not isinstance(second, torch.Tensor):
                name, values = row["scalar"]
        self.name, self.values = name, values
        self.operator: Operator = load()[name]
        self.elementwise = row["rule"].partition("_")[0] in _ELEMENTWISE

    def to_contract_call(self) -> ContractCall:
        arguments: dict[str, Any] = {}
        outputs: dict[str, int | None] = {}
        for parameter, value in self._match_parameters():
            place = _OUTPUT.fullmatch(value) if isinstance(value, str) else None
            if parameter.direction == "out":
                outputs[parameter.name] = None if place is None else int(place[1] or 0)
            else:
                arguments[parameter.name] = self._argument(parameter, value)
        if self.elementwise:
            self._promote(arguments)
        others = [name for name, _ in self.row["alternatives"]]
        removed: tuple[int, ...] = ()
        has = [p.name for p in self.operator.params]
        if self.bound.get("keepdim") and "keepdim" not in has:
            removed = self._reduced_dimensions()
        note = f"or, where a vendor lacks that operator, by {', '.join(others)}" if others else ""
        return ContractCall(self.name, arguments, outputs, removed, note)

    def _reduced_dimensions(self) -> tuple[int, ...]:
        found = compute_plan_value("dims", self.row["plan"], self.bound)
        first = next(x for x in self.bound.values() if isinstance(x, torch.Tensor))
        return tuple(range(first.dim()) if found is None else found)

    def _match_parameters(self) -> list[tuple[Parameter, Any]]:
        """Return the values with their parameters; element counts have none."""
        taking = [p for p in self.operator.params[1:] if not self.operator.count_of(p.name)]
        return list(zip(taking, self.values, strict=True))

    def _argument(self, parameter: Parameter, value: Any) -> Any:
        if isinstance(value, str) and value.startswith("plan."):
            return compute_plan_value(value.removeprefix("plan."), self.row["plan"], self.bound)
        given = isinstance(value, str) and value in self.bound
        found = self.bound[value] if given else value
        kind = parameter.value_type.removeprefix("const ").removesuffix("*")
        if kind == "diopiGeneratorHandle_t":
            raise NotServedError("it draws random numbers, which depend on its device's generator")
        if kind == "diopiReduction_t" and isinstance(found, int):
            return REDUCTIONS[found]
        if kind == "diopiRoundMode_t" and given:
            return ROUND_MODES[found]
        if kind == "diopiSize_t" and isinstance(found, int):
            return [found]
        if kind == "diopiScalar_t" and self.row["rule"] == "in_place":
            return self._convert_to_self(found)
        return found

    def _convert_to_self(self, value: Any) -> Any:
        """Return the value after conversion to the dtype of ``self``."""
        return torch.tensor(value).to(self.bound["self"].dtype).item()

    def _has_scalar_operand(self) -> bool:
        """Return True if the second operand is a scalar, which takes part in type promotion."""
        by_scalar = self.row["rule"] in ("binary_scalar", "comparison_scalar")
        return by_scalar or [self.name, self.values] == self.row["scalar"]

    def _promote(self, arguments: dict[str, Any]) -> None:
        """Convert operands to their common dtype, as torch does; convert integers to floating point
        if the operator does not accept integers."""
        operands = {
            name: value
            for name, value in arguments.items()
            if isinstance(value, torch.Tensor)
            and not (self.row["rule"] == "select" and name == "condition")
        }
        common = _result_type(list(operands.values()))
        second = self.bound.get(str(self.values[2])) if len(self.values) > 2 else None
        if (
            len(operands) == 1
            and isinstance(second, (bool, int, float))
            and self._has_scalar_operand()
        ):
            common = torch.result_type(next(iter(operands.values())), second)
        if not common.is_floating_point and self.row["rule"].endswith("_float"):
            name = next(iter(operands))
            allowed = expand_dtypes(self.operator.parameter(name).dtype or "", self.operator.dtypes)
            if str(common).removeprefix("torch.") not in allowed:
                common = torch.get_default_dtype()
        for name, value in operands.items():
            arguments[name] = value.to(common)


def _result_type(operands: list[torch.Tensor]) -> torch.dtype:
    """Return the common dtype; zero-dimensional tensors have lower priority."""
    found = operands[0]
    for other in operands[1:]:
        dtype = torch.result_type(found, other)
        larger = found if found.dim() >= other.dim() else other
        found = larger.new_empty(larger.shape, dtype=dtype, device="meta")
    return found.dtype
