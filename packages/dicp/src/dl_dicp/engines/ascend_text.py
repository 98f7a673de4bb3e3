"""Text of operator graphs for Ascend's graph engine GE. Simulated: the graphs are not run.

The operators, their inputs and their attributes are those of GE's published prototypes; the text
has the form of GE's ``GraphDef`` message. No GE has parsed this text yet: the tests check only its
structure. The real engine belongs in a wheel for Ascend.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from dl_dicp.engines.interface import RejectedError, Runner

_DTYPES = {"float32": "DT_FLOAT", "float16": "DT_FLOAT16", "bfloat16": "DT_BF16"}

Arguments = Mapping[str, Any]
Values = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Rule:
    """Conversion of a call to a GE operator.

    :ivar kind: type of the GE operator.
    :ivar inputs: for each input of the GE operator, the parameter of the call.
    :ivar outputs: parameters of the call, in the order of the GE operator's outputs.
    :ivar attributes: function of the arguments and the graph's values that returns the attributes,
        or None if GE has no such operator.
    """

    kind: str
    inputs: Mapping[str, str]
    outputs: tuple[str, ...] = ("out",)
    attributes: Callable[[Arguments, Values], dict[str, str] | None] = lambda _, __: {}


def _number(scalar: Any) -> float:
    value = scalar["value"] if isinstance(scalar, Mapping) else scalar
    return float.fromhex(value) if isinstance(value, str) else float(value)


def _no_factor(arguments: Arguments, _: Values) -> dict[str, str] | None:
    return {} if _number(arguments["alpha"]) == 1 else None


def _true_division(arguments: Arguments, _: Values) -> dict[str, str] | None:
    return {} if arguments["rounding_mode"] == "RoundModeNone" else None


def _gelu(arguments: Arguments, _: Values) -> dict[str, str] | None:
    return {"approximate": f's: "{arguments["approximate"]}"'}


def _softmax(arguments: Arguments, _: Values) -> dict[str, str] | None:
    return {"axes": f"list {{ i: {arguments['dim']} }}"}


def _rms_norm(arguments: Arguments, values: Values) -> dict[str, str] | None:
    if arguments["weight"] is None or arguments["bias"] is not None:
        return None
    if values[arguments["inv_rms"]]["dtype"] != "float32":
        return None
    return {"epsilon": f"f: {_number(arguments['eps']):.9g}"}


def _product(first: str, second: str, prefix: str) -> Any:
    def attributes(arguments: Arguments, values: Values) -> dict[str, str] | None:
        turned = [_is_turned(values[arguments[each]]) for each in (first, second)]
        return {f"{prefix}{n + 1}": f"b: {str(x).lower()}" for n, x in enumerate(turned)}

    return attributes


_TWO = {"x1": "input", "x2": "other"}
_ONE = {"x": "input"}
RULES: Mapping[str, Rule] = {
    "diopiAdd": Rule("Add", _TWO, attributes=_no_factor),
    "diopiSub": Rule("Sub", _TWO, attributes=_no_factor),
    "diopiMul": Rule("Mul", _TWO),
    "diopiDiv": Rule("RealDiv", _TWO, attributes=_true_division),
    "diopiRelu": Rule("Relu", _ONE),
    "diopiExp": Rule("Exp", _ONE),
    "diopiSqrt": Rule("Sqrt", _ONE),
    "diopiTanh": Rule("Tanh", _ONE),
    "diopiSigmoid": Rule("Sigmoid", _ONE),
    "diopiNeg": Rule("Neg", _ONE),
    "diopiGelu": Rule("GeluV2", _ONE, attributes=_gelu),
    "diopiSoftmax": Rule("SoftmaxV2", _ONE, attributes=_softmax),
    "diopiRMSNorm": Rule(
        "RmsNorm", {"x": "input", "gamma": "weight"}, ("out", "inv_rms"), _rms_norm
    ),
    "diopiMm": Rule(
        "MatMulV2",
        {"x1": "input", "x2": "mat2"},
        attributes=_product("input", "mat2", "transpose_x"),
    ),
    "diopiBmm": Rule(
        "BatchMatMulV2",
        {"x1": "input", "x2": "mat2"},
        attributes=_product("input", "mat2", "adj_x"),
    ),
}


class AscendText:
    """Engine that accepts the calls in :data:`RULES` and writes the text without running it."""

    version = "simulated"

    def accepts(self, graph: Mapping[str, Any]) -> Sequence[bool]:
        """Return True for calls with a GE operator on dense tensors that fill their storages."""
        entry = graph["entries"]["main"]
        return [_accepted(entry, *call) for call in entry["calls"]]

    def compile(self, graph: Mapping[str, Any]) -> bytes:
        """Return the text of the graph as UTF-8."""
        return _Text(graph["entries"]["main"]).text().encode()

    def load(self, code: bytes) -> Runner:
        """Raise: there is no runner."""
        raise RejectedError("it writes Ascend's graphs as text and cannot run them (simulated)")


def _accepted(entry: Mapping[str, Any], operator: str, arguments: Arguments) -> bool:
    rule = RULES.get(operator)
    if rule is None or rule.attributes(arguments, entry["values"]) is None:
        return False
    product = rule.kind in ("MatMulV2", "BatchMatMulV2")
    for name in (*rule.inputs.values(), *rule.outputs):
        value = entry["values"][arguments[name]]
        if value["dtype"] not in _DTYPES or value["offset"] != 0:
            return False
        if not (_is_dense(value) or (product and name not in rule.outputs and _is_turned(value))):
            return False
        if prod(value["shape"]) == 0:
            return False
    return True


def _is_dense(value: Mapping[str, Any]) -> bool:
    step = 1
    for size, stride in zip(reversed(value["shape"]), reversed(value["strides"]), strict=True):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def _is_turned(value: Mapping[str, Any]) -> bool:
    """Return True if the last dimensions of a matrix, or of a batch, are transposed in memory."""
    if len(value["shape"]) < 2 or _is_dense(value):
        return False
    return _is_dense(
        {name: [*value[name][:-2], *reversed(value[name][-2:])] for name in ("shape", "strides")}
    )


class _Text:
    """Writer of one graph. A storage is represented by the output that wrote it last; a different
    shape of a storage needs an operator ``Reshape``."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self._entry = entry
        self._lines: list[str] = []
        self._sources: dict[int, tuple[str, list[int]]] = {}
        self._count = 0

    def text(self) -> str:
        """Return the text of the whole graph."""
        inputs = []
        for place, port in enumerate(self._entry["inputs"]):
            value = self._entry["values"][port["value"]]
            shape = self._lying(value)
            attribute = {"index": f"i: {place}"}
            self._operator(port["name"], "Data", [], attribute, [("y", value["dtype"], shape)])
            self._sources[value["storage"]] = (f"{port['name']}:0", shape)
            inputs.append(port["name"])
        for operator, arguments in self._entry["calls"]:
            self._call(RULES[operator], arguments)
        outputs = []
        for port in self._entry["outputs"]:
            source, shape = self._sources[self._entry["values"][port["value"]]["storage"]]
            outputs.append(source)
        body = "".join(f"  {line}\n" for line in self._lines)
        ends = [f'  input: "{x}"' for x in inputs] + [f'  output: "{x}"' for x in outputs]
        return (
            '# simulated: no GE has read it\ngraph {\n  name: "main"\n'
            + "".join(f"{each}\n" for each in ends)
            + body
            + "}\n"
        )

    def _call(self, rule: Rule, arguments: Arguments) -> None:
        values = self._entry["values"]
        name = f"call{self._count}"
        self._count += 1
        inputs = [self._shaped(values[arguments[parameter]]) for parameter in rule.inputs.values()]
        made = [values[arguments[parameter]] for parameter in rule.outputs]
        attributes = rule.attributes(arguments, values) or {}
        shapes = [(f"y{n}", value["dtype"], value["shape"]) for n, value in enumerate(made)]
        self._operator(name, rule.kind, inputs, attributes, shapes)
        for place, value in enumerate(made):
            self._sources[value["storage"]] = (f"{name}:{place}", list(value["shape"]))

    def _lying(self, value: Mapping[str, Any]) -> list[int]:
        """Return the shape of a tensor in memory order."""
        shape = list(value["shape"])
        return [*shape[:-2], *reversed(shape[-2:])] if _is_turned(value) else shape

    def _shaped(self, value: Mapping[str, Any]) -> str:
        source, shape = self._sources[value["storage"]]
        wanted = self._lying(value)
        if shape == wanted:
            return source
        name = f"shape{self._count}"
        self._count += 1
        sizes = " ".join(f"i: {size}" for size in wanted)
        constant = {"value": f"list {{ {sizes} }}"}
        self._operator(f"{name}_sizes", "Const", [], constant, [("y", "int64", [len(wanted)])])
        made = [("y", value["dtype"], wanted)]
        self._operator(name, "Reshape", [source, f"{name}_sizes:0"], {}, made)
        return f"{name}:0"

    def _operator(
        self,
        name: str,
        kind: str,
        inputs: Sequence[str],
        attributes: Mapping[str, str],
        outputs: Sequence[tuple[str, str, Sequence[int]]],
    ) -> None:
        lines = [f'name: "{name}"', f'type: "{kind}"', *(f'input: "{x}"' for x in inputs)]
        lines += [f'attr {{ key: "{k}" value {{ {v} }} }}' for k, v in attributes.items()]
        for output, dtype, shape in outputs:
            sizes = " ".join(f"dim: {size}" for size in shape)
            kind_ = _DTYPES.get(dtype, "DT_INT64")
            lines.append(
                f'output_desc {{ name: "{output}" dtype: {kind_} layout: "ND" '
                f"shape {{ {sizes} }} }}"
            )
        self._lines += ["op {", *(f"  {line}" for line in lines), "}"]
