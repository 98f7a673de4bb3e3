"""Which arguments of an operator are brought to one dtype: read from the schema's dtype rules."""

from __future__ import annotations

from dataclasses import dataclass

from diopi_proto.schema import Operator, Parameter, load

__all__ = ["Promotion", "promotion"]

_SCALAR = "const diopiScalar_t*"
_TENSORS = ("diopiTensorHandle_t", "diopiConstTensorHandle_t")
_ELEMENTWISE = ("exact", "rounding", "elementary")
_FREE = ("any", None)


@dataclass(frozen=True)
class Promotion:
    """The rule of ``dl_kernels/promotion.h``, written as its initialiser.

    :ivar operands: the arguments that take part, counted without the context.
    :ivar result: the argument with the result.
    :ivar kind: what becomes of the result: a ``PromotedResult``.
    :ivar floating: integers are taken as float32.
    """

    operands: tuple[int, ...]
    result: int
    kind: str
    floating: bool

    def __str__(self) -> str:
        bits = sum(1 << operand for operand in self.operands)
        floating = str(self.floating).lower()
        return f"{bits}, {self.result}, PromotedResult::{self.kind}, {floating}"


def promotion(name: str) -> Promotion | None:
    """The rule of an operator; None where all its tensors have dtypes of their own."""
    operator = load()[name]
    if operator.op_class not in _ELEMENTWISE:
        return None
    parameters = operator.params[1:]
    outputs = [x for x in parameters if x.type in _TENSORS and x.direction != "in"]
    if len(outputs) != 1 or any("HandleArray" in x.type for x in parameters):
        return None
    (out,) = outputs
    if out.direction == "inout":
        return _in_place(operator, parameters, out)
    return _functional(parameters, out)


def _functional(parameters: tuple[Parameter, ...], out: Parameter) -> Promotion | None:
    rule = out.dtype or ""
    if rule.startswith("promote "):
        return _rule(parameters, rule.split()[1:], out, "kCommon")
    if rule.startswith("float of "):
        return _rule(parameters, rule.split()[2:], out, "kCommon", floating=True)
    operands = [x.name for x in parameters if x.direction == "in" and _takes_part(x)]
    free = any(x.name in operands and x.dtype == "any" for x in parameters)
    if not free or len(operands) < 2:
        return None
    if rule == "any":
        return _rule(parameters, operands, out, "kConverted")
    return _rule(parameters, operands, out, "kTruth") if "bool" in rule else None


def _in_place(
    operator: Operator, parameters: tuple[Parameter, ...], out: Parameter
) -> Promotion | None:
    operands = [x.name for x in parameters if x.direction == "in" and x.dtype == "any"]
    if not operands or operator.in_place_of is None:
        return None
    (separate,) = (x.dtype or "" for x in load()[operator.in_place_of].outputs)
    if "bool" in separate:
        return _rule(parameters, [out.name, *operands], out, "kTruth")
    if separate == "any" or separate.startswith("promote "):
        return _rule(parameters, [out.name, *operands], out, "kConverted")
    return None


def _takes_part(parameter: Parameter) -> bool:
    return parameter.type == _SCALAR or (parameter.type in _TENSORS and parameter.dtype in _FREE)


def _rule(
    parameters: tuple[Parameter, ...],
    operands: list[str],
    out: Parameter,
    kind: str,
    *,
    floating: bool = False,
) -> Promotion:
    places = {parameter.name: place for place, parameter in enumerate(parameters)}
    taking = tuple(sorted(places[name] for name in operands))
    return Promotion(taking, places[out.name], kind, floating)
