"""Case files: captured calls of operators with the elements of their tensors.

``dl bundle to-conformance`` writes such a file, and the suite runs its cases where no training
framework is installed. It is a safetensors file with JSON text in its metadata::

    {"format": 1, "cases": [{"operator": "diopiAdd", "source": "aten.add.Tensor, ...",
      "arguments": {"input": {"tensor": "0", "strides": [4, 1], "offset": 0}, "alpha": 1, ...},
      "outputs": {"out": {"dtype": "float32", "shape": [3, 4], "strides": [4, 1]}}}]}

An argument is a tensor, a list of tensors, ``null``, a number, a string, or a list of sizes;
``{"float": "nan"}`` and ``{"generator": [seed, offset]}`` encode values that JSON cannot represent.
The whole file is validated against the contract before any part is used, and no tensor reaches
beyond its memory.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from diopi_proto.schema import Operator, Parameter, expand_dtypes, load

from .case import Case, T
from .dtype_rules import by_rule, main_dtypes, resolve
from .inputs import Array
from .reference import find
from .tensor_file import (
    CODES,
    Stored,
    TensorFileError,
    carrier,
    elements_of,
    is_sizes,
    read_tensors,
    write_tensors,
)
from .vocabulary import described

FORMAT = 1
KEY = "dl-conformance-cases"
LARGEST = 1 << 32
"""Maximum total extent of the tensors of a file in bytes, outputs included."""
LARGEST_TRIED = 1 << 26
"""Maximum number of memory positions that are checked one by one for overlapping elements."""
SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
INTEGERS = ("int64_t", "int32_t", "int", "diopiMemoryFormat_t")
TEXTS = ("const char", "diopiReduction_t", "diopiRoundMode_t")


class CaseFileError(Exception):
    """A case file is invalid or has no cases that can run."""


@dataclass(frozen=True)
class Placed:
    """A tensor of a captured call: its elements, strides and storage offset."""

    dtype: str
    elements: Array
    strides: tuple[int, ...]
    offset: int = 0


@dataclass(frozen=True)
class Written:
    """Metadata of an output of a captured call."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Captured:
    """One call of an operator of the contract, to be written to a file.

    :ivar arguments: by parameter: a :class:`Placed`, a list of :class:`Placed`, None, or a plain
        value.
    :ivar outputs: metadata by parameter; None for an output that the call omits.
    :ivar source: description of where the call was captured, for reports.
    """

    operator: str
    arguments: Mapping[str, Any]
    outputs: Mapping[str, Written | None] = field(default_factory=dict)
    source: str = ""


def write_cases(path: Path, calls: Iterable[Captured]) -> None:
    """Write a case file, replacing an existing file."""
    tensors, text = _as_text(calls)
    write_tensors(path, tensors, {KEY: text})


def case_of(call: Captured) -> Case:
    """Return the case that a file with this call would contain.

    :raises CaseFileError: the call is not a valid call of the operator.
    """
    tensors, text = _as_text([call])
    return _Reader(tensors).cases(text)[0]


def _as_text(calls: Iterable[Captured]) -> tuple[dict[str, Stored], str]:
    tensors: dict[str, Stored] = {}

    def entry(value: Any) -> Any:
        if isinstance(value, Placed):
            name = str(len(tensors))
            tensors[name] = Stored(value.dtype, value.elements)
            return {"tensor": name, "strides": list(value.strides), "offset": value.offset}
        if isinstance(value, (list, tuple)):
            return [entry(x) for x in value]
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": repr(value)}
        return value

    cases = [
        {
            "operator": call.operator,
            "source": call.source,
            "arguments": {name: entry(value) for name, value in call.arguments.items()},
            "outputs": {
                name: None
                if out is None
                else {"dtype": out.dtype, "shape": [*out.shape], "strides": [*out.strides]}
                for name, out in call.outputs.items()
            },
        }
        for call in calls
    ]
    return tensors, json.dumps({"format": FORMAT, "cases": cases})


def read_cases(path: Path) -> tuple[Case, ...]:
    """Read the cases of a file.

    :raises CaseFileError: the file is not a case file, is damaged, or contains an invalid call.
    """
    try:
        tensors, metadata = read_tensors(path)
        if KEY not in metadata:
            raise TensorFileError(f"its metadata has no {KEY!r}: it contains tensors but no cases")
        return _Reader(tensors).cases(metadata[KEY])
    except (TensorFileError, CaseFileError) as error:
        raise CaseFileError(f"{path}: {error}") from None
    except OSError as error:
        raise CaseFileError(f"{path}: {error.strerror}") from None


class _Reader:
    """Parser and validator of the cases of one file."""

    def __init__(self, tensors: Mapping[str, Stored]) -> None:
        self.tensors = tensors
        self.reached = 0
        self.where = "the file"

    def fail(self, message: str) -> CaseFileError:
        return CaseFileError(f"{self.where}: {message}")

    def cases(self, text: str) -> tuple[Case, ...]:
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.fail(f"its cases are not valid JSON: {error}") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise self.fail(f"its cases do not have format {FORMAT}, the one that this suite reads")
        entries = content.get("cases")
        if content.keys() != {"format", "cases"} or not isinstance(entries, list) or not entries:
            raise self.fail("it has no list of cases")
        found: dict[str, Case] = {}
        for at, entry in enumerate(entries):
            self.where = f"case {at}"
            case = self.case(entry)
            found[case.name] = case
        return tuple(found.values())

    def case(self, entry: Any) -> Case:
        if not isinstance(entry, dict) or entry.keys() != {
            *("operator", "source", "arguments", "outputs"),
        }:
            raise self.fail("the keys must be operator, source, arguments and outputs")
        name, source = entry["operator"], entry["source"]
        if not isinstance(name, str) or name not in load():
            raise self.fail(f"{name!r} is not an operator of the contract")
        self.where += f" ({name})"
        if find(name) is None:
            raise self.fail("the operator has no reference in this suite")
        if not _is_text(source, 1000):
            raise self.fail("the source is not a single line of text")
        operator = load()[name]
        arguments = self.arguments(operator, entry["arguments"], entry["outputs"])
        given = {n: x.dtype for n, x in _tensors_of(arguments) if x.dtype is not None}
        main = self.main_dtype(operator, given)
        self.check_dtypes(operator, arguments, given, main)
        dtypes = resolve(operator, main, given)
        text = self.text(operator, arguments, main)
        return Case(f"{name}[{text}]", name, main, "captured", "", arguments, dtypes, source=source)

    def text(self, operator: Operator, arguments: Mapping[str, Any], main: str) -> str:
        """Return the bracketed part of the name, with a digest that distinguishes similar calls."""
        read = [p.name for p in operator.params[1:] if p.direction != "out"]
        digest = hashlib.blake2b(digest_size=4)
        for name, value in arguments.items():
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, T):
                    digest.update(f"{name} {one.sizes} {one.dtype} {one.strides}".encode())
                    digest.update(b"" if one.stored is None else one.stored.tobytes())
                else:
                    digest.update(f"{name} {one!r}".encode())

        def plain(one: Any) -> Any:
            return replace(one, dtype=None) if isinstance(one, T) and one.dtype == main else one

        shown_as = {
            n: [plain(x) for x in v] if isinstance(v, list) else plain(v)
            for n, v in arguments.items()
        }
        words = [described(n, shown_as[n]) for n in read if shown_as.get(n) is not None]
        shown = "-".join(words).replace("[", "(").replace("]", ")")
        return f"{main}-captured-{shown[:160]}-{digest.hexdigest()}"

    def arguments(self, operator: Operator, given: Any, outputs: Any) -> dict[str, Any]:
        read = {
            p.name: p
            for p in operator.params[1:]
            if p.direction != "out" and not operator.count_of(p.name)
        }
        written = {p.name: p for p in operator.params[1:] if p.direction == "out"}
        if not isinstance(given, dict) or given.keys() != read.keys():
            names = given.keys() ^ read.keys() if isinstance(given, dict) else read.keys()
            raise self.fail(
                f"the arguments must be {', '.join(read)}; missing or unknown: "
                f"{', '.join(sorted(names))}"
            )
        if not isinstance(outputs, dict) or not outputs.keys() <= written.keys():
            raise self.fail(f"the outputs must be a mapping with keys of {', '.join(written)}")
        found = {n: self.argument(p, given[n]) for n, p in read.items()}
        for name, value in outputs.items():
            if value is not None or not written[name].nullable:
                found[name] = self.output(written[name], value)
            else:
                found[name] = None
        return found

    def argument(self, parameter: Parameter, value: Any) -> Any:
        if parameter.layout != "strided":
            raise self.fail(f"{parameter.name} is a sparse tensor; captured calls cannot have one")
        if value is None:
            if not parameter.nullable:
                raise self.fail(f"{parameter.name} is absent, but it is required")
            return None
        if parameter.is_tensor:
            return self.tensor(parameter, value)
        if parameter.is_tensor_pointer:
            if not isinstance(value, list):
                raise self.fail(f"{parameter.name} is not a list of tensors")
            if None in value and not parameter.nullable_entries:
                raise self.fail(
                    f"an entry of {parameter.name} is absent, but all entries are required"
                )
            return [None if x is None else self.tensor(parameter, x) for x in value]
        if isinstance(value, dict) and value.keys() == {"float"} and value["float"] in SPECIAL:
            value = SPECIAL[value["float"]]
        return self.plain(parameter, value)

    def plain(self, parameter: Parameter, value: Any) -> Any:
        """Validate and convert a number, a string, sizes, or a generator."""
        kind = parameter.value_type.removeprefix("const ").removesuffix("*")
        if kind == "diopiSize_t":
            right = isinstance(value, list) and all(_is_int64(x) for x in value)
            value = tuple(value) if right else value
        elif kind == "diopiGeneratorHandle_t":
            pair = value.get("generator") if isinstance(value, dict) else None
            right = isinstance(pair, list) and len(pair) == 2 and all(map(_is_uint64, pair))
            value = tuple(pair) if isinstance(pair, list) else value
        elif kind == "bool":
            right = isinstance(value, bool)
        elif kind in INTEGERS:
            right = _is_int64(value)
        elif kind in ("double", "float"):
            right = type(value) is float or _is_int64(value)
            value = float(value) if right else value
        elif kind == "diopiScalar_t":
            right = type(value) is float or _is_int64(value)
        elif kind in ("char", *TEXTS):
            right = _is_text(value, 64)
        else:
            right = False
        if right and parameter.values and str(value) not in parameter.values:
            raise self.fail(
                f"{parameter.name} is {value!r}, but must be one of {', '.join(parameter.values)}"
            )
        if not right:
            raise self.fail(f"{parameter.name} is {_short(value)}, which is not a {parameter.type}")
        return value

    def tensor(self, parameter: Parameter, value: Any) -> T:
        name = parameter.name
        if not isinstance(value, dict) or value.keys() != {"tensor", "strides", "offset"}:
            raise self.fail(f"{name} is not a tensor with strides and offset")
        key, strides, offset = value["tensor"], value["strides"], value["offset"]
        if not isinstance(key, str) or key not in self.tensors:
            raise self.fail(f"{name} refers to tensor {_short(key)}, which is not in the file")
        stored = self.tensors[key]
        placing = self.placing(name, stored.dtype, stored.elements.shape, strides, offset)
        elements = stored.elements
        if parameter.direction != "in":
            if self.overlaps(name, elements.shape, placing[0]):
                raise self.fail(f"{name} is written, but some of its elements share memory")
        elif self.differ(name, elements, placing[0]):
            raise self.fail(f"elements of {name} share memory but are not equal")
        return T(
            elements.shape,
            dtype=stored.dtype,
            plain=True,
            stored=elements,
            strides=placing[0],
            offset=placing[1],
        )

    def output(self, parameter: Parameter, value: Any) -> T:
        name = parameter.name
        if not isinstance(value, dict) or value.keys() != {"dtype", "shape", "strides"}:
            raise self.fail(f"the keys of output {name} are not exactly dtype, shape and strides")
        dtype, shape = value["dtype"], value["shape"]
        if not isinstance(dtype, str) or dtype not in CODES or not is_sizes(shape):
            raise self.fail(f"the output {name} does not have a dtype and shape of the contract")
        strides, _ = self.placing(name, dtype, tuple(shape), value["strides"], 0)
        if self.overlaps(name, tuple(shape), strides):
            raise self.fail(f"elements of the output {name} share memory")
        return T(tuple(shape), dtype=dtype, plain=True, strides=strides)

    def placing(
        self, name: str, dtype: str, shape: tuple[int, ...], strides: Any, offset: Any
    ) -> tuple[tuple[int, ...], int]:
        """Validate strides and offset, and add the tensor's extent to the total of the file."""
        if not is_sizes(strides) or len(strides) != len(shape) or not is_sizes([offset]):
            raise self.fail(f"{name} of shape {list(shape)} has invalid strides {_short(strides)}")
        size = carrier(dtype).itemsize
        reach = 0 if 0 in shape else (offset + _span(shape, strides)) * size
        # NumPy and vendors multiply all nonzero sizes, and strides of empty dimensions.
        self.reached += max(reach, elements_of(shape) * size, *(x * size for x in strides), 0)
        if self.reached > LARGEST:
            raise self.fail(
                f"with {name}, its tensors span {self.reached} bytes; the maximum is {LARGEST}"
            )
        return tuple(strides), 0 if 0 in shape else offset

    def overlaps(self, name: str, shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
        """Return True if two elements share memory."""
        if 0 in shape or _nested(shape, strides):
            return False
        span = self.checked_span(name, shape, strides)
        if math.prod(shape) > span:
            return True
        taken = np.zeros(span, np.bool_)
        as_strided(taken, shape, strides)[...] = True
        return int(np.count_nonzero(taken)) != math.prod(shape)

    def differ(self, name: str, elements: Array, strides: tuple[int, ...]) -> bool:
        """Return True if two elements share memory but are not equal."""
        for d, step in enumerate(strides):
            if step == 0 and elements.shape[d] > 1:
                first = elements.take([0], axis=d)
                if np.broadcast_to(first, elements.shape).tobytes() != elements.tobytes():
                    return True
                elements = first
        if 0 in elements.shape or _nested(elements.shape, strides):
            return False
        memory = np.zeros(self.checked_span(name, elements.shape, strides), elements.dtype)
        steps = tuple(x * elements.dtype.itemsize for x in strides)
        view = as_strided(memory, elements.shape, steps)
        view[...] = elements
        return view.tobytes() != elements.tobytes()

    def checked_span(self, name: str, shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
        """Return the number of memory positions that a tensor spans, if few enough to check."""
        span = _span(shape, strides)
        if span > LARGEST_TRIED:
            raise self.fail(
                f"{name} of shape {list(shape)} has the strides {list(strides)}, which interleave "
                f"over {span} positions; the maximum is {LARGEST_TRIED}"
            )
        return span

    def main_dtype(self, operator: Operator, given: Mapping[str, str]) -> str:
        known = main_dtypes(operator)
        return next((x for x in given.values() if x in known), known[0])

    def check_dtypes(
        self, operator: Operator, arguments: Mapping[str, Any], given: Mapping[str, str], main: str
    ) -> None:
        for parameter in operator.params[1:]:
            name, rule = parameter.name, parameter.dtype
            value = arguments.get(name)
            for one in value if isinstance(value, list) else [value]:
                if not isinstance(one, T) or rule is None:
                    continue
                allowed = _allowed(rule, operator, given, main)
                if allowed and one.dtype not in allowed:
                    raise self.fail(
                        f"{name} has dtype {one.dtype}, but it must be {', '.join(allowed)}"
                    )


def _allowed(rule: str, operator: Operator, given: Mapping[str, str], main: str) -> tuple[str, ...]:
    """Return the dtypes that a rule of the schema allows, or () if it depends on absent tensors."""
    words = rule.split()
    if words[0] in ("like", "accumulate") or words[1:2] == ["of"]:
        return (by_rule(rule, operator, given, main),) if words[-1] in given else ()
    if words[0] == "promote":
        return ()
    return expand_dtypes(rule, operator.dtypes)


def _tensors_of(arguments: Mapping[str, Any]) -> Iterable[tuple[str, T]]:
    for name, value in arguments.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, T):
                yield name, one


def _span(shape: Iterable[int], strides: Iterable[int]) -> int:
    """Return the distance from the first to the last element, both included."""
    return 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))


def _nested(shape: Iterable[int], strides: Iterable[int]) -> bool:
    """Return True if each stride exceeds the extent of all dimensions with smaller strides.

    That proves that no two elements share memory. It holds for all views without overlap, except
    for some made by ``as_strided``.
    """
    reached = 0
    for step, n in sorted(zip(strides, shape, strict=True)):
        if n > 1:
            if step <= reached:
                return False
            reached += (n - 1) * step
    return True


def _is_int64(value: Any) -> bool:
    return type(value) is int and -(1 << 63) <= value < 1 << 63


def _is_uint64(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 64


def _is_text(value: Any, longest: int) -> bool:
    return isinstance(value, str) and len(value) <= longest and value.isprintable()


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
