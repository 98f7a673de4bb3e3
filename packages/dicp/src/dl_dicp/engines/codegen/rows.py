"""Operators along the last dimension as steps on a row: reductions, then elementwise operations.

A rule adds the steps of a call to a :class:`~dl_dicp.engines.codegen.loops.Loops`. It gets the
symbols of the inputs and returns the symbols of the results by parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dl_dicp.engines.codegen.expressions import Arguments, number

if TYPE_CHECKING:
    from dl_dicp.engines.codegen.loops import Loops, Symbol

Values = list[Mapping[str, Any]]
Given = Mapping[str, "Symbol"]
Made = dict[str, "Symbol"]


@dataclass(frozen=True)
class Along:
    """Rule that expresses a row-wise operator in passes.

    :ivar tensors: input parameters with whole rows; ``weights`` are one row for all, and optional.
    :ivar makes: output parameters with whole rows; ``row_makes`` have one value per row.
    :ivar serves: function that returns True if a call works along the last dimension only.
    """

    write: Callable[[Loops, Given, Arguments, int], Made]
    serves: Callable[[Arguments, Values], bool]
    tensors: tuple[str, ...] = ("input",)
    weights: tuple[str, ...] = ()
    makes: tuple[str, ...] = ("out",)
    row_makes: tuple[str, ...] = ()


def _last(parameter: str, tensor: str) -> Callable[[Arguments, Values], bool]:
    """Return a function that checks that a parameter is the last dimension of a tensor."""

    def serves(arguments: Arguments, values: Values) -> bool:
        given, dims = arguments[parameter], len(values[arguments[tensor]]["shape"])
        listed = given if isinstance(given, list) else [given]
        return dims > 0 and [d % dims for d in listed if isinstance(d, int)] == [dims - 1]

    return serves


def _one_dimension(arguments: Arguments, values: Values) -> bool:
    return bool(list(arguments["normalized_shape"]) == values[arguments["input"]]["shape"][-1:])


def _sum(loops: Loops, given: Given, _: Arguments, __: int) -> Made:
    return {"out": loops.row("static_cast<float>({0})", loops.total(given["input"]))}


def _mean(loops: Loops, given: Given, _: Arguments, length: int) -> Made:
    total = loops.total(given["input"])
    return {"out": loops.row(f"static_cast<float>({{0}} / {length})", total)}


def _amax(loops: Loops, given: Given, _: Arguments, __: int) -> Made:
    x = given["self"]
    nans = loops.total(loops.element("{0} != {0} ? 1.0f : 0.0f", x))
    text = "{1} > 0 ? kNaN : {0}"
    return {"out": loops.row(text, loops.largest(x), nans)}


def _softmax(loops: Loops, given: Given, _: Arguments, __: int) -> Made:
    largest = loops.largest(given["input"])
    powers = loops.element("math::exp({0} - {1})", given["input"], largest)
    share = loops.row("static_cast<float>(1 / {0})", loops.total(powers))
    return {"out": loops.element("{0} * {1}", powers, share)}


def _log_softmax(loops: Loops, given: Given, _: Arguments, __: int) -> Made:
    largest = loops.largest(given["input"])
    powers = loops.element("math::exp({0} - {1})", given["input"], largest)
    down = loops.row("{0} + math::log(static_cast<float>({1}))", largest, loops.total(powers))
    return {"out": loops.element("{0} - {1}", given["input"], down)}


def _softmax_gradient(loops: Loops, given: Given, _: Arguments, __: int) -> Made:
    grad, output = given["grad_output"], given["output"]
    total = loops.total(loops.element("{0} * {1}", grad, output))
    total = loops.row("static_cast<float>({0})", total)
    return {"grad_input": loops.element("({0} - {2}) * {1}", grad, output, total)}


def _log_softmax_gradient(loops: Loops, given: Given, _: Arguments, __: int) -> Made:
    grad, output = given["grad_output"], given["output"]
    total = loops.row("static_cast<float>({0})", loops.total(grad))
    return {"grad_input": loops.element("{0} - math::exp({1}) * {2}", grad, output, total)}


def _scaled(loops: Loops, given: Given, normal: Symbol) -> Symbol:
    if "weight" in given:
        normal = loops.element("{0} * {1}", normal, given["weight"])
    if "bias" in given:
        normal = loops.element("{0} + {1}", normal, given["bias"])
    return normal


def _layer_norm(loops: Loops, given: Given, arguments: Arguments, length: int) -> Made:
    x = given["input"]
    # Corrected two-pass algorithm: the sum of the deviations corrects the rounding of the mean.
    near = loops.row(f"static_cast<float>({{0}} / {length})", loops.total(x))
    apart = loops.element("{0} - {1}", x, near)
    shift, squares = loops.total(apart), loops.total(apart, squared=True)
    mean = loops.row(f"static_cast<float>({{0}} + {{1}} / {length})", near, shift)
    variance = f"({{0}} - {{1}} * ({{1}} / {length})) / {length}"
    eps = repr(number(arguments["eps"]))
    inverse = loops.row(f"static_cast<float>(1 / root({variance} + {eps}))", squares, shift)
    out = _scaled(loops, given, loops.element("({0} - {1}) * {2}", x, mean, inverse))
    return {"out": out, "save_mean": mean, "save_invstd": inverse}


def _rms_norm(loops: Loops, given: Given, arguments: Arguments, length: int) -> Made:
    squares = loops.total(given["input"], squared=True)
    eps = repr(number(arguments["eps"]))
    inverse = loops.row(f"static_cast<float>(1 / root({{0}} / {length} + {eps}))", squares)
    out = _scaled(loops, given, loops.element("{0} * {1}", given["input"], inverse))
    return {"out": out, "inv_rms": inverse}


_BOTH = ("grad_output", "output")
_NORM = ("weight", "bias")
RULES: Mapping[str, Along] = {
    "diopiSum": Along(_sum, _last("dim", "input"), makes=(), row_makes=("out",)),
    "diopiMean": Along(_mean, _last("dim", "input"), makes=(), row_makes=("out",)),
    "diopiAmax": Along(_amax, _last("dim", "self"), ("self",), makes=(), row_makes=("out",)),
    "diopiSoftmax": Along(_softmax, _last("dim", "input")),
    "diopiLogSoftmax": Along(_log_softmax, _last("dim", "input")),
    "diopiSoftmaxBackward": Along(
        _softmax_gradient, _last("dim", "output"), _BOTH, makes=("grad_input",)
    ),
    "diopiLogSoftmaxBackward": Along(
        _log_softmax_gradient, _last("dim", "output"), _BOTH, makes=("grad_input",)
    ),
    "diopiLayerNorm": Along(
        _layer_norm, _one_dimension, weights=_NORM, row_makes=("save_mean", "save_invstd")
    ),
    "diopiRMSNorm": Along(_rms_norm, _one_dimension, weights=_NORM, row_makes=("inv_rms",)),
}
