"""Run one case on a library, and hold what it wrote against the reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from diopi_proto import Generator, OperatorError, OperatorNotBoundError, Tensor, Vendor
from diopi_proto.errors import DiopiError
from diopi_proto.schema import Operator, load
from diopi_proto.tolerance import OpClass, compare

from .case import Case, T
from .inputs import COMPLEX, FLOATS, Array, exact, stored, wrong_everywhere
from .layouts import applies, place
from .reference import Expected, OutputShape, Unspecified, compute
from .vocabulary import tensors

LARGE = 1 << 16
"""Elements of a tensor from which on references compute in float64, which BLAS knows. Its roundings
are 2^-29 of those of float32; those of float64 are judged in longdouble at any size."""
UNSUPPORTED = ("diopiNoImplement", "diopiDtypeNotSupported", "diopi5DNotSupported")


@dataclass(frozen=True)
class Outcome:
    """What became of a case.

    :ivar status: ``passed``, ``failed``, ``unsupported``, ``skipped``, or ``unchecked``: it ran,
        and a library that writes nothing would have passed too.
    :ivar worst: the worst element's error in units of its bound; nan without one.
    """

    name: str
    operator: str
    dtype: str
    status: str
    cause: str = ""
    detail: str = ""
    worst: float = math.nan
    seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Run:
    """One case on one vendor."""

    def __init__(self, vendor: Vendor, case: Case) -> None:
        self.vendor = vendor
        self.case = case
        self.operator: Operator = load()[case.operator]
        self.passed: dict[str, Any] = {}
        self.wide: dict[str, Any] = {}
        self.inputs: dict[str, Any] = {}
        sizes = [math.prod(x.sizes) for x in tensors(case.arguments)]
        large = case.dtype != "float64" and max(sizes, default=0) >= LARGE
        self.number: type[np.floating[Any]] = np.float64 if large else np.longdouble

    def make_inputs(self) -> None:
        """Elements of all that the operator reads, and what the reference gets."""
        for parameter in self.operator.params[1:]:
            name = parameter.name
            if parameter.direction == "out" or name not in self.case.arguments:
                continue
            value = self.case.arguments[name]
            if isinstance(value, T) and value.result_of:
                continue
            if isinstance(value, T):
                self.inputs[name], self.wide[name] = self._elements(
                    name, value, parameter.direction
                )
            elif isinstance(value, list):
                both = [
                    (None, None)
                    if entry is None
                    else self._elements(f"{name}", entry, parameter.direction, f"{name} {at}")
                    for at, entry in enumerate(value)
                ]
                self.inputs[name] = [pair[0] for pair in both]
                self.wide[name] = [pair[1] for pair in both]
            else:
                self.inputs[name] = self.wide[name] = value
        for name, value in self.case.arguments.items():
            if isinstance(value, T) and value.result_of:
                elements, layout = self._result(name, value)
                self.inputs[name] = (elements, layout)
                self.wide[name] = np.asarray(exact(elements, self.dtype_of(name), self.number))

    def _result(self, name: str, tensor: T) -> tuple[Array, str]:
        """What another operator gives for the same inputs, as the dtype stores it."""
        operator, _, output = tensor.result_of.partition(".")
        read = (p.name for p in load()[operator].params[1:] if p.direction != "out")
        names = [name for name in read if name in self.wide]
        outputs = {p.name for p in load()[operator].outputs}
        found = compute(operator, {n: self.wide[n] for n in names}, outputs)[output]
        elements = stored(np.asarray(expected(found).value), self.dtype_of(name))
        layout = self.case.layout
        if layout == "expanded" or not applies(layout, elements.shape):
            layout = "contiguous"
        return np.ascontiguousarray(elements).reshape(elements.shape), layout

    def _elements(
        self, name: str, tensor: T, direction: str, key: str = ""
    ) -> tuple[tuple[Array, str], Array]:
        case = self.case
        dtype = tensor.dtype or case.dtypes[name]
        elements = tensor.elements(f"{case.operator} {case.dtype} {key or name}", dtype, case.edge)
        layout = case.layout if not tensor.plain and applies(case.layout, elements.shape) else ""
        if layout == "expanded":
            if direction == "in":
                elements = np.ascontiguousarray(np.broadcast_to(elements[:1], elements.shape))
            else:
                layout = ""
        return (elements, layout or "contiguous"), np.asarray(exact(elements, dtype, self.number))

    def outputs(self) -> set[str]:
        """The outputs that the call has."""
        absent = {n for n, v in self.case.arguments.items() if v is None}
        return {p.name for p in self.operator.outputs} - absent

    def want(self) -> dict[str, Any]:
        """What the operator has to write."""
        named = self.case.arguments
        outputs = [p.name for p in self.operator.params if p.direction == "out"]
        shapes = {
            n: OutputShape.of(named[n].sizes, named[n].dtype or self.case.dtypes[n])
            for n in outputs
            if isinstance(named.get(n), T)
        }
        return compute(self.case.operator, self.wide, self.outputs(), shapes)

    def place(self, want: Mapping[str, Any]) -> None:
        """Make the tensors, each output with elements that are all wrong."""
        for parameter in self.operator.params[1:]:
            name = parameter.name
            if parameter.direction != "out":
                if name in self.inputs:
                    self.passed[name] = self._placed(name, self.inputs[name])
                continue
            written = parameter.is_tensor or parameter.is_tensor_pointer
            if not written or parameter.allocated_by == "vendor":
                if self.case.arguments.get(name, ...) is None:
                    self.passed[name] = None
                continue
            if name not in want:
                self.passed[name] = None
            elif isinstance(want[name], list):
                self.passed[name] = [self._output(name, x) for x in want[name]]
            else:
                self.passed[name] = self._output(name, want[name])

    def _placed(self, name: str, value: Any) -> Any:
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], np.ndarray):
            elements, layout = value
            given = self.case.arguments[name]
            one = given[0] if isinstance(given, list) else given
            dtype = getattr(one, "dtype", None) or self.case.dtypes[name]
            return place(self.vendor, elements, dtype, layout)
        if isinstance(value, list):
            return [
                None if entry is None else self._placed_entry(name, at, entry)
                for at, entry in enumerate(value)
            ]
        parameter = self.operator.parameter(name)
        if parameter.type.startswith("diopiGeneratorHandle_t") and value is not None:
            return Generator(seed=value[0], offset=value[1])
        return value

    def _placed_entry(self, name: str, at: int, entry: tuple[Array, str]) -> Tensor:
        dtype = self.case.arguments[name][at].dtype or self.case.dtypes[name]
        return place(self.vendor, entry[0], dtype, entry[1])

    def dtype_of(self, name: str) -> str:
        return self.case.dtypes[name]

    def _output(self, name: str, want: Any) -> Tensor:
        value = expected(want).value
        dtype = self.dtype_of(name)
        elements = wrong_everywhere(np.asarray(value), dtype)
        layout = self.case.layout
        if layout == "expanded" or not applies(layout, elements.shape):
            layout = "contiguous"
        return place(self.vendor, elements, dtype, layout)


def expected(want: Any) -> Expected:
    return want if isinstance(want, Expected) else Expected(want)


def run(vendor: Vendor, case: Case) -> Outcome:
    """Run a case. Whatever goes wrong is in the outcome."""
    work = Run(vendor, case)

    def outcome(status: str, cause: str = "", detail: str = "", worst: float = math.nan) -> Outcome:
        return Outcome(case.name, case.operator, case.dtype, status, cause, detail, worst)

    if not vendor.operators[case.operator]:
        return outcome("unsupported", "not implemented")
    work.make_inputs()
    want = work.want()
    work.place(want)
    try:
        returned = vendor.op[case.operator](**work.passed)
    except OperatorNotBoundError as error:
        return outcome("unsupported", "not implemented", str(error))
    except OperatorError as error:
        for symbol in UNSUPPORTED:
            if f"({symbol}," in str(error):
                return outcome("unsupported", symbol, str(error))
        return outcome("failed", "returned an error", str(error))
    except DiopiError as error:
        return outcome("failed", type(error).__name__, str(error))
    return _judge(work, want, returned, outcome)


def _judge(
    work: Run, want: Mapping[str, Any], returned: Any, outcome: Callable[..., Outcome]
) -> Outcome:
    results = _results(work, returned)
    worst, total, unchanged = 0.0, 0, True
    faults: list[str] = []
    for name, value in want.items():
        got, several = results.get(name), isinstance(value, list)
        pairs = list(zip(got or (), value, strict=True)) if several else [(got, value)]
        for at, (tensor, one) in enumerate(pairs):
            if isinstance(one, Unspecified) or one is None:
                continue
            verdict, ratio = _compared(work, name, tensor, expected(one))
            size = np.asarray(expected(one).value).size
            # A number in the host's memory is 0 before the call.
            nothing = not isinstance(tensor, Tensor) and size == 1 and not expected(one).value
            total += 0 if nothing else size
            if verdict:
                faults.append(f"{name}[{at}]: {verdict}" if several else f"{name}: {verdict}")
            if not math.isnan(ratio):
                worst = max(worst, ratio)
            unchanged = unchanged and _as_before(work, name, at, value, expected(one))
    faults += _touched(work)
    if faults:
        told = [x for x in ("shape", "dtype") if f"{x} is" in faults[0]]
        return outcome("failed", f"wrong {told[0] if told else 'value'}", "\n".join(faults), worst)
    if total == 0 or unchanged:
        return outcome("unchecked", "nothing to check", "", worst)
    return outcome("passed", "", "", worst)


def _as_before(work: Run, name: str, at: int, value: Any, want: Expected) -> bool:
    """Whether what is written in place was right before the call."""
    if np.asarray(want.value).size == 0:
        return True
    before = work.wide.get(name)
    if before is None:
        return False
    one = before[at] if isinstance(value, list) else before
    if one is None or not hasattr(one, "shape"):
        return False
    return one.shape == np.shape(want.value) and np.array_equal(
        one, np.asarray(want.value), equal_nan=one.dtype.kind in "fc"
    )


def _touched(work: Run) -> list[str]:
    """Which inputs do not have the elements that they had."""
    faults = []
    for parameter in work.operator.params[1:]:
        name = parameter.name
        tensor, made = work.passed.get(name), work.inputs.get(name)
        if parameter.direction != "in" or not isinstance(tensor, Tensor):
            continue
        if isinstance(made, tuple) and tensor.numpy().tobytes() != made[0].tobytes():
            faults.append(f"{name}: the input was modified")
    return faults


def _results(work: Run, returned: Any) -> dict[str, Any]:
    """What the operator wrote and what it returned, by parameter."""
    results = dict(work.passed)
    values = list(returned) if isinstance(returned, tuple) else [returned]
    for parameter in work.operator.params[1:]:
        vendor_made = parameter.allocated_by == "vendor"
        number = not (parameter.is_tensor or parameter.is_tensor_pointer)
        number_out = number and parameter.direction == "out" and parameter.type.endswith("*")
        if (vendor_made or number_out) and values:
            results[parameter.name] = values.pop(0)
    return results


def _class_of(operator: Operator, want: Expected) -> OpClass:
    """The schema's class; where a random operator has a reference, its draws are exact and what it
    does with them is rounded."""
    name = want.op_class or operator.op_class
    return OpClass("rounding" if name == "random" else name)


def _number(work: Run, got: Any, want: Expected) -> tuple[str, float]:
    """A number in the host's memory: exact, unless the reference names the dtype of its sums."""
    number = np.asarray(want.value).item()
    if want.dtype is None:
        return ("" if got == number else f"got {got}, want {number}"), math.nan
    comparison = compare(
        np.array(got, want.dtype),
        np.asarray(want.value, np.longdouble),
        dtype=want.dtype,
        op_class=_class_of(work.operator, want),
        reduction_length=np.asarray(want.length),
        magnitude=want.magnitude,
    )
    return ("" if comparison.ok else f"got {got}, want {number}"), comparison.ratio


def _compared(work: Run, name: str, got: Any, want: Expected) -> tuple[str, float]:
    """What is wrong with one output, nothing if it is right, and its worst element."""
    dtype = want.dtype or work.dtype_of(name) if name in work.case.dtypes else ""
    if got is None:
        return "nothing was returned", math.inf
    if not isinstance(got, Tensor):
        return _number(work, got, want)
    if got.dtype.name != dtype:
        return f"dtype is {got.dtype.name}, want {dtype}", math.inf
    value = np.asarray(want.value)
    if dtype in FLOATS:
        value = value.astype(np.longdouble)
    elif dtype in COMPLEX:
        value = value.astype(np.clongdouble)
    elif dtype == "bool":
        value = value.astype(bool)
    elif value.dtype.kind != "u" or value.dtype.name != "uint64":
        value = value.astype(dtype)
    comparison = compare(
        got.numpy(),
        value,
        dtype=dtype,
        op_class=_class_of(work.operator, want),
        reduction_length=np.asarray(want.length),
        magnitude=want.magnitude,
        accumulate=want.accumulate,
        roundings=want.roundings,
    )
    if comparison.ok:
        return "", comparison.ratio
    report = comparison.report("").removeprefix(": ")
    return report, comparison.ratio if not comparison.mismatch else math.inf
