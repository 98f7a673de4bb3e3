"""C++ expressions of elementwise operators, on floats or bools in registers.

The functions that they call are defined in the prelude of each
:class:`~dl_dicp.engines.codegen.dialect.Dialect`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from diopi_proto.schema import load as load_schema

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Elementwise:
    """Rule that gives the C++ expression of an elementwise operator.

    :ivar text: an expression with its parameters in braces. A tensor is replaced by the name of a
        float (of a bool if it is in ``boolean_operands``), a scalar by a float literal.
    :ivar tensors: parameters that are tensors, in their order.
    :ivar numbers: parameters that are scalars.
    :ivar out: the parameter that it writes.
    :ivar is_boolean: whether the result is boolean.
    :ivar boolean_operands: tensors that are used as booleans.
    :ivar serves: function that returns True if the text is right for the given non-tensor
        arguments.
    """

    text: str
    tensors: tuple[str, ...] = ("input",)
    numbers: tuple[str, ...] = ()
    out: str = "out"
    is_boolean: bool = False
    boolean_operands: tuple[str, ...] = ()
    serves: Callable[[Arguments], bool] = lambda _: True


def number(given: Any) -> float:
    """Return the value of a scalar in a graph."""
    value = given["value"] if isinstance(given, Mapping) else given
    return float.fromhex(value) if isinstance(value, str) else float(value)


_TWO = ("input", "other")
_UNARY = {
    "diopiRelu": "{input} <= 0.0f ? 0.0f : {input}",
    "diopiTanh": "math::tanh({input})",
    "diopiSigmoid": "math::sigmoid({input})",
    "diopiSilu": "{input} / (1.0f + math::exp(-{input}))",
    "diopiExp": "math::exp({input})",
    "diopiExpm1": "math::expm1({input})",
    "diopiLog": "math::log({input})",
    "diopiLog1p": "math::log1p({input})",
    "diopiLog2": "math::log2({input})",
    "diopiLog10": "math::log10({input})",
    "diopiErf": "math::erf({input})",
    "diopiSqrt": "root({input})",
    "diopiRsqrt": "1.0f / root({input})",
    "diopiReciprocal": "1.0f / {input}",
    "diopiNeg": "-{input}",
    "diopiAbs": "math::magnitude({input})",
    "diopiHardswish": "{input} * (clamped({input} + 3.0f, 0.0f, 6.0f) / 6.0f)",
    "dlopHardsigmoid": "clamped({input} + 3.0f, 0.0f, 6.0f) / 6.0f",
    "diopiCastDtype": "{input}",
}
_COMPARED = {"Eq": "==", "Ne": "!=", "Ge": ">=", "Gt": ">", "Le": "<=", "Lt": "<"}
_LOGICAL = {
    f"diopi{kind}{name}": f"{{input}} {sign} {{other}}"
    for kind in ("Logical", "Bitwise")  # bools are the only integers here
    for name, sign in (("And", "&"), ("Or", "|"))
}


def _exact_division(arguments: Arguments) -> bool:
    return bool(arguments["rounding_mode"] == "RoundModeNone")


def _by_tanh(arguments: Arguments) -> bool:
    return bool(arguments["approximate"] == "tanh")


def _by_erf(arguments: Arguments) -> bool:
    return bool(arguments["approximate"] == "none")


def _power_of(exponent: float) -> Callable[[Arguments], bool]:
    return lambda arguments: number(arguments["exponent"]) == exponent


def _gradient(text: str, second: str, *numbers: str, serves: Any = lambda _: True) -> Elementwise:
    return Elementwise(text, ("grad_output", second), numbers, "grad_input", serves=serves)


def _rules() -> dict[str, list[Elementwise]]:
    rules: dict[str, list[Elementwise]] = {
        name: [Elementwise(text)] for name, text in _UNARY.items()
    }
    for name, sign in (("Add", "+"), ("Sub", "-")):
        rules[f"diopi{name}"] = [
            Elementwise(f"{{input}} {sign} {{alpha}} * {{other}}", _TWO, ("alpha",))
        ]
        rules[f"diopi{name}Scalar"] = [
            Elementwise(f"{{input}} {sign} {{alpha}} * {{other}}", numbers=("other", "alpha"))
        ]
    rules["diopiMul"] = [Elementwise("{input} * {other}", _TWO)]
    rules["diopiMulScalar"] = [Elementwise("{input} * {other}", numbers=("other",))]
    rules["diopiDiv"] = [Elementwise("{input} / {other}", _TWO, serves=_exact_division)]
    rules["diopiDivScalar"] = [
        Elementwise("{input} / {other}", numbers=("other",), serves=_exact_division)
    ]
    # As in torch, a NaN in either operand is the result.
    rules["diopiMaximum"] = [Elementwise("greater({input}, {other})", _TWO)]
    rules["diopiMinimum"] = [Elementwise("lesser({input}, {other})", _TWO)]
    low, high = "{input} < {min} ? {min} : {input}", "{input} > {max} ? {max} : {input}"
    rules["diopiClampMaxScalar"] = [Elementwise(high, numbers=("max",))]
    rules["diopiClampMinScalar"] = [Elementwise(low, numbers=("min",))]
    rules["diopiClampScalar"] = [
        Elementwise("{input}", serves=lambda a: a["min"] is None and a["max"] is None),
        Elementwise(high, numbers=("max",), serves=lambda a: a["min"] is None),
        Elementwise(low, numbers=("min",), serves=lambda a: a["max"] is None),
        Elementwise("clamped({input}, {min}, {max})", numbers=("min", "max")),
    ]
    rules["diopiHardtanh"] = [
        Elementwise("clamped({input}, {min_val}, {max_val})", numbers=("min_val", "max_val"))
    ]
    rules["diopiLeakyRelu"] = [
        Elementwise(
            "{input} > 0.0f ? {input} : {input} * {negative_slope}", numbers=("negative_slope",)
        )
    ]
    for name, sign in _COMPARED.items():
        rules[f"diopi{name}"] = [Elementwise(f"{{input}} {sign} {{other}}", _TWO, is_boolean=True)]
        rules[f"diopi{name}Scalar"] = [
            Elementwise(f"{{input}} {sign} {{other}}", numbers=("other",), is_boolean=True)
        ]
    for name, text in _LOGICAL.items():
        rules[name] = [Elementwise(text, _TWO, is_boolean=True, boolean_operands=_TWO)]
    for name in ("diopiLogicalNot", "diopiBitwiseNot"):
        rules[name] = [Elementwise("!{input}", is_boolean=True, boolean_operands=("input",))]
    rules["diopiIsNan"] = [Elementwise("{input} != {input}", is_boolean=True)]
    rules["diopiWhere"] = [
        Elementwise(
            "{condition} ? {input} : {other}", ("condition", *_TWO), boolean_operands=("condition",)
        )
    ]
    rules["diopiMaskedFill"] = [
        Elementwise(
            "{mask} ? {value} : {input}", ("input", "mask", "value"), boolean_operands=("mask",)
        )
    ]
    rules["diopiMaskedFillScalar"] = [
        Elementwise(
            "{mask} ? {value} : {input}", ("input", "mask"), ("value",), boolean_operands=("mask",)
        )
    ]
    three = ("input", "tensor1", "tensor2")
    rules["diopiAddcmul"] = [
        Elementwise("{input} + {value} * {tensor1} * {tensor2}", three, ("value",))
    ]
    rules["diopiAddcdiv"] = [
        Elementwise("{input} + {value} * {tensor1} / {tensor2}", three, ("value",))
    ]
    rules["diopiLerpScalar"] = [
        # As in torch, both ends are exact.
        Elementwise(
            "{input} + {weight} * ({end} - {input})",
            ("input", "end"),
            ("weight",),
            serves=lambda a: abs(number(a["weight"])) < 0.5,
        ),
        Elementwise("{end} - ({end} - {input}) * (1.0f - {weight})", ("input", "end"), ("weight",)),
    ]
    rules["diopiPow"] = [
        Elementwise("{input} * {input}", serves=_power_of(2)),
        Elementwise("{input} * {input} * {input}", serves=_power_of(3)),
        Elementwise("root({input})", serves=_power_of(0.5)),
        Elementwise("1.0f / root({input})", serves=_power_of(-0.5)),
        Elementwise("1.0f / {input}", serves=_power_of(-1)),
        Elementwise("math::pow({input}, {exponent})", numbers=("exponent",)),
    ]
    rules["diopiGelu"] = [
        Elementwise("math::gelu({input})", serves=_by_erf),
        Elementwise("gelu_by_tanh({input})", serves=_by_tanh),
    ]
    rules["diopiGeluBackward"] = [
        _gradient("{grad_output} * math::gelu_derivative({input})", "input", serves=_by_erf),
        _gradient("gelu_by_tanh_gradient({grad_output}, {input})", "input", serves=_by_tanh),
    ]
    rules["diopiTanhBackward"] = [
        _gradient("{grad_output} * (1.0f - {output} * {output})", "output")
    ]
    rules["diopiSigmoidBackward"] = [
        _gradient("{grad_output} * {output} * (1.0f - {output})", "output")
    ]
    rules["diopiSiluBackward"] = [_gradient("silu_gradient({grad_output}, {input})", "input")]
    rules["diopiThresholdBackward"] = [
        _gradient("{input} <= {threshold} ? 0.0f : {grad_output}", "input", "threshold")
    ]
    rules["diopiCopyInp"] = [Elementwise("{src}", ("src",), out="dest")]
    rules["diopiFill"] = [Elementwise("{value}", (), ("value",), out="input")]
    rules["diopiZeroInp"] = [Elementwise("0.0f", (), out="self")]
    return rules


RULES = _rules()
"""Rules by operator; the first one that supports the arguments is used."""


def rule_of(operator: str, arguments: Arguments) -> Elementwise | None:
    """Return the rule for a call, or None if there is none. An in-place call uses the rule of the
    out-of-place operator, with its input as the result."""
    out = None
    if operator not in RULES and operator in load_schema():
        like = load_schema()[operator].in_place_of
        out = load_schema()[operator].outputs[0].name if like else None
        operator = like or operator
    for rule in RULES.get(operator, ()):
        if rule.serves(arguments):
            fields = {**rule.__dict__, "out": out} if out else rule.__dict__
            return Elementwise(**fields)
    return None
