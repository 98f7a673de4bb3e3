"""Run one case on a library, and hold what it wrote against the reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from diopi_proto import Generator, OperatorError, OperatorNotBoundError, Tensor, Vendor
from diopi_proto.dtypes import DTYPES
from diopi_proto.errors import DiopiError
from diopi_proto.schema import Operator, Parameter, load

from .adapted import judged_in, representable
from .case import Case, T
from .inputs import Array, exact, stored, wrong_everywhere
from .judging import judged, judged_number, wrong_strides
from .layouts import Strided, applies, in_format, place, strides_of
from .mixed import promoted
from .reference import Expected, OutputShape, Unspecified, compute
from .refusal import DECLINED, refusal
from .sparse import Csr
from .tensor_file import Stored
from .vocabulary import tensors

LARGE = 1 << 16
"""Elements of a tensor from which on references compute in float64, which BLAS knows. Its roundings
are 2^-29 of those of float32; those of float64 are judged in longdouble at any size."""
NUMBERS = ("bool*", "double*", "int64_t*")
"""Numbers in the host's memory, which a call returns where it writes them."""


@dataclass(frozen=True)
class Outcome:
    """What became of a case.

    :ivar status: ``passed``, ``failed``, ``unsupported``, ``skipped``, or ``unchecked``: it ran,
        and a library that writes nothing would have passed too.
    :ivar worst: the worst element's error in units of its bound; nan without one.
    :ivar conversions: what the vendor's adaptor converted, and how often.
    """

    name: str
    operator: str
    dtype: str
    status: str
    cause: str = ""
    detail: str = ""
    worst: float = math.nan
    seconds: float = 0.0
    conversions: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Outcome:
        """What a report has of a case: checks of the runtime have no dtype.

        :raises TypeError: it is no outcome.
        """
        return cls(**{"dtype": "", **found})


class Run:
    """One case on one vendor."""

    def __init__(self, vendor: Vendor, case: Case) -> None:
        self.vendor = vendor
        # What only computes references has no vendor.
        self.adaptor = getattr(vendor, "adaptor", None)
        self.case = case
        self.operator: Operator = load()[case.operator]
        self.passed: dict[str, Any] = {}
        self.wide: dict[str, Any] = {}
        self.inputs: dict[str, Any] = {}
        sizes = [math.prod(x.sizes) for x in tensors(case.arguments)]
        large = case.dtype != "float64" and max(sizes, default=0) >= LARGE
        self.number: type[np.floating[Any]] = np.float64 if large else np.longdouble

    def make_inputs(self, only: Collection[str] | None = None) -> None:
        """Elements of all that the operator reads, and what the reference gets.

        :param only: of these parameters.
        """
        for parameter in self.operator.params[1:]:
            name = parameter.name
            if parameter.direction == "out" or name not in self.case.arguments:
                continue
            if only is not None and name not in only:
                continue
            value = self.case.arguments[name]
            if isinstance(value, T) and (value.result_of or value.kept_by):
                continue
            if isinstance(value, T):
                self.inputs[name], self.wide[name] = self._elements(
                    name, value, parameter.direction
                )
            elif isinstance(value, list):
                both = [
                    self._elements(f"{name}", entry, parameter.direction, f"{name} {at}")
                    if isinstance(entry, T)
                    else (entry, entry)
                    for at, entry in enumerate(value)
                ]
                self.inputs[name] = [pair[0] for pair in both]
                self.wide[name] = [pair[1] for pair in both]
            else:
                self.inputs[name] = self.wide[name] = value
        for name, value in self.case.arguments.items():
            if only is not None and name not in only:
                continue
            if isinstance(value, T) and value.result_of:
                elements, layout = self._result(name, value)
                self.inputs[name] = (elements, layout)
                self.wide[name] = np.asarray(exact(elements, self.dtype_of(name), self.number))
            elif isinstance(value, T) and value.kept_by:
                self.wide[name] = value.given

    def _result(self, name: str, tensor: T) -> tuple[Array, str]:
        """What another operator gives for the same inputs, as the dtype stores it."""
        operator, _, output = tensor.result_of.partition(".")
        read = (p.name for p in load()[operator].params[1:] if p.direction != "out")
        known = {**self.wide, **tensor.given}
        names = [name for name in read if name in known]
        outputs = {p.name for p in load()[operator].outputs}
        found = compute(operator, {n: known[n] for n in names}, outputs)[output]
        dtype = self.dtype_of(name)
        elements = stored(np.asarray(expected(found).value), dtype)
        elements = representable(self.adaptor, self.operator, name, elements, dtype)
        layout = self.case.layout
        if layout == "expanded" or not applies(layout, elements.shape):
            layout = "contiguous"
        return np.ascontiguousarray(elements).reshape(elements.shape), layout

    def _elements(
        self, name: str, tensor: T, direction: str, key: str = ""
    ) -> tuple[tuple[Array, str | Strided] | Csr, Array | Csr]:
        case = self.case
        dtype = tensor.dtype or case.dtypes[name]
        key = f"{case.operator} {case.dtype} {key or name}"
        if tensor.csr:
            sparse = Csr.of(tensor, key, dtype, case.edge)
            return sparse, sparse.exact(dtype, self.number)
        elements = tensor.elements(key, dtype, case.edge)
        elements = representable(self.adaptor, self.operator, name, elements, dtype)
        if tensor.strides is not None:
            placed = (elements, Strided(tensor.strides, tensor.offset))
            return placed, np.asarray(exact(elements, dtype, self.number))
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
        given = {n: v.dtype for n, v in named.items() if isinstance(v, T) and v.dtype}
        dtypes = {**self.case.dtypes, **given}
        wide = promoted(self.case, self.wide, self.number)
        return compute(self.case.operator, wide, self.outputs(), shapes, dtypes)

    def other_shapes(self, want: Mapping[str, Any]) -> str:
        """Which outputs of a captured call do not have the shape that the operator writes."""
        for name, value in want.items():
            named = self.case.arguments.get(name)
            if not isinstance(named, T) or value is None or isinstance(value, list):
                continue
            wanted = expected(value).value
            shape = np.shape(wanted)
            if named.sizes != shape and not isinstance(wanted, Unspecified):
                return f"{name}: the call has the shape {named.sizes}, the operator writes {shape}"
        return ""

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
        if isinstance(value, Csr):
            return value.place(self.vendor, self.dtype_of(name))
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
        if is_generator(self.operator.parameter(name)) and value is not None:
            return Generator(seed=value[0], offset=value[1])
        return value

    def _placed_entry(self, name: str, at: int, entry: tuple[Any, Any]) -> Tensor | Generator:
        if is_generator(self.operator.parameter(name)):
            return Generator(seed=entry[0], offset=entry[1])
        dtype = self.case.arguments[name][at].dtype or self.case.dtypes[name]
        return place(self.vendor, entry[0], dtype, entry[1])

    def dtype_of(self, name: str) -> str:
        return self.case.dtypes[name]

    def workspaces(self) -> dict[str, str]:
        """The scratch tensors that the vendor may want, and the numbers that tell their sizes."""
        names = {p.name for p in self.operator.params if p.is_tensor and p.nullable}
        sizes = [p for p in self.operator.params if p.type == "int64_t*" and p.direction == "inout"]
        pairs = {p.name.removesuffix("_size"): p.name for p in sizes}
        return {k: v for k, v in pairs.items() if k in names and self.passed.get(k) is None}

    def make_workspaces(self) -> str:
        """Ask how much scratch memory the call takes, and make it. What went wrong, if anything."""
        pairs = self.workspaces()
        if not pairs:
            return ""
        asked = {**self.passed, **dict.fromkeys(pairs.values(), -1)}
        told = _results(self, self.vendor.op[self.case.operator](**asked))
        changed = [name for name in self.inputs if not self.is_as_made(name)]
        if changed:
            return f"{', '.join(changed)}: written by a call that only asks for sizes"
        for name, size in pairs.items():
            if told[size] is None or told[size] < 0:
                return f"{size}: got {told[size]}, want how many bytes {name} needs"
            dtype, self.passed[size] = self.dtype_of(name), told[size]
            elements = -(-told[size] // DTYPES[dtype].itemsize)
            if elements:
                self.passed[name] = self.vendor.empty((elements,), dtype)
        return ""

    def make_kept(self) -> None:
        """Run the vendor's own operators that keep what this one is given."""
        for name, tensor in self.case.arguments.items():
            if not isinstance(tensor, T) or not tensor.kept_by or name in self.passed:
                continue
            operator, _, _ = tensor.kept_by.partition(".")
            known = {**self.passed, **self._others(load()[operator], tensor.given)}
            for parameter in load()[operator].outputs:
                # Of which this call has one of its own, as it should be.
                if parameter.allocated_by != "vendor":
                    given = self.passed[parameter.name]
                    known[parameter.name] = self.vendor.empty(given.shape, given.dtype.name)
            bound = self.vendor.op[operator]
            returned = bound(**{n: known[n] for n in bound.arguments})
            names = [p.name for p in load()[operator].outputs if p.allocated_by == "vendor"]
            kept = dict(zip(names, returned, strict=True))
            for other, value in self.case.arguments.items():
                if isinstance(value, T) and value.kept_by.startswith(f"{operator}."):
                    self.passed[other] = kept[value.kept_by.partition(".")[2]]

    @staticmethod
    def _others(operator: Operator, given: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: Generator(seed=value[0], offset=value[1])
            if is_generator(operator.parameter(name)) and value is not None
            else value
            for name, value in given.items()
        }

    def prepare(self) -> str:
        """Of a call that is to be prepared by another one, make that. What went wrong, if
        anything."""
        if not self.passed.get("is_prepared"):
            return ""
        self.vendor.op[self.case.operator](**{**self.passed, "is_prepared": False})
        made = [name for name, value in self.inputs.items() if value is not None]
        changed = [name for name in made if not self.is_as_made(name)]
        return f"{', '.join(changed)}: written by a call that only prepares" if changed else ""

    def strides(self) -> tuple[int, ...] | None:
        """The strides of what the operator allocates, where the contract names them."""
        if self.operator.name != "diopiContiguous":
            return None
        elements, layout = self.inputs["input"]
        given = (
            layout.strides if isinstance(layout, Strided) else strides_of(layout, elements.shape)[0]
        )
        return in_format(self.case.arguments["memoryFormat"], elements.shape, given)

    def judged(self, got: Mapping[str, Any], want: Mapping[str, Any]) -> tuple[list[str], float]:
        """What is wrong with results that no vendor gave, and their worst element.

        :param got: by output a :class:`Stored`, a list of those, or a number; outputs that are
            not there are not looked at.
        """
        faults, worst = [], math.nan
        for name, value in want.items():
            if name not in got:
                continue
            several = isinstance(value, list)
            pairs = zip(got[name], value, strict=True) if several else [(got[name], value)]
            for given, one in pairs:
                if one is None or isinstance(one, Unspecified):
                    continue
                wanted = expected(one)
                if isinstance(given, Stored):
                    dtype = wanted.dtype or self.dtype_of(name)
                    found = judged(self.operator, given.elements, given.dtype, dtype, wanted)
                else:
                    found = judged_number(self.operator, given, wanted)
                if found[0]:
                    faults.append(f"{name}: {found[0]}")
                worst = float(np.fmax(worst, found[1]))
        return faults, worst

    def refused(self, want: Mapping[str, Any]) -> Run:
        """The call that has to be refused, made of this one, which was right.

        :param want: what this one has written.
        """
        other = Run(self.vendor, self.case.refused())
        changed = self.case.refusal.changed if self.case.refusal else {}
        other.inputs, other.wide = {**self.inputs}, {**self.wide}
        other.make_inputs(changed)
        written = {p.name for p in self.operator.params if p.direction == "out"}
        outputs = {n: shaped(x) for n, x in changed.items() if n in written and x is not None}
        other.place({**{n: x for n, x in want.items() if n not in changed}, **outputs})
        # Scratch memory that was asked for, and what the vendor's own operators have kept.
        for name, value in self.passed.items():
            if name not in changed and other.passed.get(name) is None:
                other.passed[name] = value
        return other

    def is_as_made(self, name: str) -> bool:
        """Whether a tensor, a generator, or a list of those is as the call got it."""
        given, made = self.passed[name], self.inputs[name]
        if not isinstance(given, list):
            given, made = [given], [made]
        for one, as_made in zip(given, made, strict=True):
            if isinstance(one, Tensor) and not _holds(one, as_made):
                return False
            if isinstance(one, Generator) and (one.seed, one.offset) != as_made:
                return False
        return True

    def _output(self, name: str, want: Any) -> Tensor:
        value = expected(want).value
        dtype = self.dtype_of(name)
        elements = wrong_everywhere(np.asarray(value), dtype)
        named = self.case.arguments.get(name)
        if isinstance(named, T) and named.strides is not None and named.sizes == elements.shape:
            return place(self.vendor, elements, dtype, Strided(named.strides))
        layout = self.case.layout
        if layout == "expanded" or not applies(layout, elements.shape):
            layout = "contiguous"
        return place(self.vendor, elements, dtype, layout)


def is_generator(parameter: Parameter) -> bool:
    """Whether it is a generator, or an array of them."""
    return parameter.value_type.rstrip("*") == "diopiGeneratorHandle_t"


def shaped(value: Any) -> Any:
    """What an output of that shape may hold."""
    if isinstance(value, list):
        return [shaped(each) for each in value]
    return np.zeros(value.sizes)


def expected(want: Any) -> Expected:
    return want if isinstance(want, Expected) else Expected(want)


def run(vendor: Vendor, case: Case) -> Outcome:
    """Run a case. Whatever goes wrong is in the outcome."""
    work = Run(vendor, case)

    def outcome(status: str, cause: str = "", detail: str = "", worst: float = math.nan) -> Outcome:
        if case.source and status == "failed":
            detail = f"{detail}\ncaptured: {case.source}"
        return Outcome(case.name, case.operator, case.dtype, status, cause, detail, worst)

    if not vendor.operators[case.operator]:
        return outcome("unsupported", "not implemented")
    try:
        work.make_inputs()
        want = work.want()
    except Exception as error:
        if not case.source:
            raise
        # What is in a file is not the suite's own.
        said = f"its arguments do not fit together: {type(error).__name__}: {error}"
        return outcome("failed", "no call of the operator", said)
    fault = work.other_shapes(want) if case.source else ""
    if fault:
        return outcome("failed", "no call of the operator", fault)
    work.place(want)
    try:
        fault = work.make_workspaces() or work.prepare()
        if fault:
            return outcome("failed", "wrong value", fault)
        work.make_kept()
        returned = vendor.op[case.operator](**work.passed)
    except OperatorNotBoundError as error:
        return outcome("unsupported", "not implemented", str(error))
    except OperatorError as error:
        for symbol in DECLINED:
            if f"({symbol}," in str(error):
                return outcome("unsupported", symbol, str(error))
        return outcome("failed", "returned an error", str(error))
    except DiopiError as error:
        return outcome("failed", type(error).__name__, str(error))
    if case.refusal is not None:
        return refusal(work.refused(want), case.refusal, outcome)
    return _judge(work, want, returned, outcome)


_VERB = {"shape": "is", "dtype": "is", "strides": "are"}


def _judge(
    work: Run, want: Mapping[str, Any], returned: Any, outcome: Callable[..., Outcome]
) -> Outcome:
    results = _results(work, returned)
    worst, total, unchanged = 0.0, 0, True
    faults: list[str] = []
    for name, value in want.items():
        got, several = results.get(name), isinstance(value, list)
        if several and len(got or ()) != len(value):
            faults.append(f"{name}: got {len(got or ())} tensors, want {len(value)}")
            continue
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
        told = [x for x in ("shape", "dtype", "strides") if f"{x} {_VERB[x]} " in faults[0]]
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


def _holds(tensor: Tensor, made: Any) -> bool:
    """Whether a tensor holds the elements that it was made of."""
    if isinstance(made, Csr):
        return made.is_in(tensor)
    return bool(tensor.numpy().tobytes() == made[0].tobytes())


def _touched(work: Run) -> list[str]:
    """Which inputs do not have the elements that they had."""
    faults = []
    for parameter in work.operator.params[1:]:
        name = parameter.name
        tensor, made = work.passed.get(name), work.inputs.get(name)
        if parameter.direction != "in" or not isinstance(tensor, Tensor):
            continue
        if isinstance(made, tuple) and not _holds(tensor, made):
            faults.append(f"{name}: the input was modified")
    return faults


def _results(work: Run, returned: Any) -> dict[str, Any]:
    """What the operator wrote and what it returned, by parameter."""
    results = dict(work.passed)
    values = list(returned) if isinstance(returned, tuple) else [returned]
    for parameter in work.operator.params[1:]:
        vendor_made = parameter.allocated_by == "vendor"
        number = parameter.direction != "in" and parameter.type in NUMBERS
        if (vendor_made or number) and values:
            results[parameter.name] = values.pop(0)
    return results


def judge(case: Case, got: Mapping[str, Any]) -> tuple[list[str], float]:
    """What is wrong with results that no vendor gave, and their worst element; see Run.judged."""
    work = Run(None, case)  # type: ignore[arg-type]
    work.make_inputs()
    return work.judged(got, work.want())


def _compared(work: Run, name: str, got: Any, want: Expected) -> tuple[str, float]:
    """What is wrong with one output, nothing if it is right, and its worst element."""
    dtype = want.dtype or work.dtype_of(name) if name in work.case.dtypes else ""
    if got is None:
        return "nothing was returned", math.inf
    if not isinstance(got, Tensor):
        return judged_number(work.operator, got, want)
    elements, given = got.numpy(), got.dtype.name
    if given == dtype:
        elements, given = judged_in(work.adaptor, work.operator, name, elements, dtype)
        dtype = given
    verdict, ratio = judged(work.operator, elements, given, dtype, want)
    if not verdict and work.operator.parameter(name).allocated_by == "vendor":
        verdict = wrong_strides(got.strides, got.shape, work.strides())
    return verdict, ratio
