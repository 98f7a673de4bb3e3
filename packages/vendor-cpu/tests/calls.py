"""A small call of every operator of the contract that the vendor has, derived from the schema.

calls.yaml defines what the schema does not: consistent shapes, dimensions, positions. An operator
that is new to the vendor needs an entry there if the defaults do not work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from diopi_proto import Generator, Tensor, Vendor
from diopi_proto.schema import Operator, Parameter, expand_dtypes, load
from support import FLOATS, Array, stored, with_layout

Shape = tuple[int, ...]


@dataclass(frozen=True)
class TensorSpec:
    """Specification of a tensor argument.

    :ivar values: elements, broadcast to the shape; None: random values, for integers 1 to 3.
    :ivar csr: a sparse CSR tensor that stores all its elements.
    """

    shape: Shape
    dtype: str
    written: bool = False
    values: Any = None
    layout: str = "dense"
    csr: bool = False

    def array(self, seed: int) -> Array:
        if self.values is not None:
            return stored(np.broadcast_to(self.values, self.shape), self.dtype)
        random = np.random.default_rng(seed)
        if self.dtype == "bool":
            return random.random(self.shape) < 0.6
        if self.dtype in FLOATS:
            return stored(random.uniform(0.1, 0.9, self.shape), self.dtype)
        return stored(random.integers(1, 4, self.shape), self.dtype)

    def place(self, vendor: Vendor, seed: int) -> Tensor:
        if self.csr:
            rows, columns = self.shape
            starts = vendor.tensor(np.arange(rows + 1) * columns)
            places = vendor.tensor(np.tile(np.arange(columns), rows))
            values = vendor.tensor(self.array(seed).ravel(), dtype=self.dtype)
            return vendor.sparse_csr(starts, places, values, self.shape)
        return vendor.tensor(with_layout(self.array(seed), self.layout), dtype=self.dtype)


@cache
def _entries() -> list[Mapping[str, Any]]:
    text = (Path(__file__).parent / "calls.yaml").read_text(encoding="utf-8")
    return list(yaml.safe_load(text))


def entries_of(operator: str) -> list[Mapping[str, Any]]:
    """Return the entries of calls.yaml for an operator: for its first call, and for others."""
    short = operator.removeprefix("diopi")

    def listed(key: str, name: str) -> list[Mapping[str, Any]]:
        return [entry for entry in _entries() if name in entry.get(key, "").split()]

    first = listed("of", short) or listed("of", short.replace("Inp", "")) or [{}]
    return first + listed("also", short)


def parse_tensor(text: str | None, dtype: str, written: bool) -> TensorSpec | None:
    """Parse a tensor in the notation of calls.yaml."""
    if text is None:
        return None
    shape, _, values = text.partition(" = ")
    sizes = () if shape == "-" else tuple(map(int, shape.split("x")))
    elements = np.array(values.split(), np.int64).reshape(sizes) if values and not written else None
    return TensorSpec(sizes, dtype, written, elements)


NUMBERS: Mapping[str, Any] = {
    "from": 0.0,
    "to": 1.0,
    "std": 1.5,
    "min_val": 0.2,
    "max_val": 0.8,
    "min": 1,
    "correction": 1,
    "train": True,
}
"""Values of parameters other than tensors, by name."""

BY_TYPE: Mapping[str, Any] = {
    "bool": False,
    "int64_t": 1,
    "int32_t": 1,
    "double": 0.5,
    "float": 0.5,
    "diopiScalar_t": 2,
    "diopiReduction_t": "mean",
    "diopiRoundMode_t": "floor",
}


@dataclass(frozen=True)
class Call:
    """One call: an argument for each parameter. Tensors are :class:`TensorSpec`, also in lists."""

    operator: Operator
    arguments: Mapping[str, Any]

    def tensors(self) -> Iterator[tuple[str, int | None, TensorSpec]]:
        """Yield the parameter, the position in its list, and the tensor."""
        for name, value in self.arguments.items():
            if isinstance(value, TensorSpec):
                yield name, None, value
            elif isinstance(value, list):
                yield from ((name, i, v) for i, v in enumerate(value) if isinstance(v, TensorSpec))

    def with_tensor(self, name: str, position: int | None, tensor: TensorSpec | None) -> Call:
        """Return the call with one tensor replaced."""
        value: Any = tensor
        if position is not None:
            value = list(self.arguments[name])
            value[position] = tensor
        return replace(self, arguments={**self.arguments, name: value})

    def run(self, vendor: Vendor, garbage: int = 1) -> tuple[dict[str, Any], Any]:
        """Return the created arguments and the result of the operator.

        :param garbage: seed of the initial contents of outputs.
        """
        made: dict[str, Any] = {}
        for at, (name, value) in enumerate(self.arguments.items()):
            seed = 100 * garbage + at if self.operator.parameter(name).direction == "out" else at
            if isinstance(value, TensorSpec):
                made[name] = value.place(vendor, seed)
            elif isinstance(value, list):
                made[name] = [
                    self._materialize(vendor, seed + i, entry) for i, entry in enumerate(value)
                ]
            else:
                made[name] = Generator(seed=5) if value is Generator else value
        return made, vendor.op[self.operator.name](**made)

    @staticmethod
    def _materialize(vendor: Vendor, seed: int, entry: Any) -> Any:
        if isinstance(entry, TensorSpec):
            return entry.place(vendor, seed)
        return Generator(seed=seed) if entry is Generator else entry

    def results(self, vendor: Vendor, garbage: int = 1) -> dict[str, Array]:
        """Return what the operator wrote and what it returned, by name."""
        made, returned = self.run(vendor, garbage)
        several = returned if isinstance(returned, tuple) else (returned,)
        listed = [x for value in several for x in (value if isinstance(value, list) else [value])]
        found = {f"returned {i}": value for i, value in enumerate(listed)}
        for name, position, tensor in self.tensors():
            if tensor.written:
                found[f"{name} {position}"] = (
                    made[name] if position is None else made[name][position]
                )
        return {
            key: value.numpy() if isinstance(value, Tensor) else np.array(value)
            for key, value in found.items()
            if value is not None
        }


REAL_PARTS = {"complex64": "float32", "complex128": "float64"}


def dtype_by_rule(rule: str, operator: Operator, known: Mapping[str, str], main: str) -> str:
    """Return the dtype that a rule of the schema gives; ``main`` if it leaves a choice."""
    head, _, rest = rule.partition(" ")
    if head in ("float", "real", "complex") and rest.startswith("of "):
        dtype = dtype_by_rule(_reference(rest[3:]), operator, known, main)
        if head == "real":
            return REAL_PARTS.get(dtype, dtype)
        if head == "complex":
            return {"float16": "complex32", "float64": "complex128"}.get(dtype, "complex64")
        return dtype if dtype in FLOATS or dtype in REAL_PARTS else "float32"
    if head == "accumulate":
        dtype = dtype_by_rule(_reference(rest), operator, known, main)
        return "float32" if dtype in ("float16", "bfloat16") else dtype
    if head == "like":
        return known[rest]
    if head == "promote":
        return main
    allowed = expand_dtypes(rule, operator.dtypes)
    return main if main in allowed else allowed[0]


def _reference(rest: str) -> str:
    return rest if rest.startswith("promote ") else f"like {rest}"


def dtypes_of(operator: Operator, main: str) -> dict[str, str]:
    """Return the dtype of every tensor parameter, in order of dependency."""
    waiting = {p.name: p.dtype for p in operator.params if p.dtype}
    known: dict[str, str] = {}
    while waiting:
        ready = {n: r for n, r in waiting.items() if not any(w in r.split() for w in waiting)}
        for name, rule in ready.items():
            known[name] = dtype_by_rule(rule, operator, known, main)
            del waiting[name]
    return known


def calls_of(name: str, main: str | None = None) -> list[Call]:
    """Return the calls of an operator, with ``main`` where its rules leave a choice of dtypes."""
    return [_call(load()[name], entry, main) for entry in entries_of(name)]


def _call(operator: Operator, entry: Mapping[str, Any], main: str | None) -> Call:
    allowed = expand_dtypes(operator.dtypes)
    dtypes = dtypes_of(operator, main or ("float32" if "float32" in allowed else "int32"))
    arguments = {}
    for parameter in operator.params[1:]:
        if _follows(operator, parameter) or parameter.allocated_by == "vendor":
            continue
        if parameter.direction == "out" and not (
            parameter.is_tensor or parameter.is_tensor_pointer
        ):
            continue
        arguments[parameter.name] = _argument(parameter, entry, dtypes)
    return Call(operator, arguments)


def _follows(operator: Operator, parameter: Parameter) -> bool:
    return bool(operator.count_of(parameter.name))


def _argument(parameter: Parameter, shapes: Mapping[str, Any], dtypes: Mapping[str, str]) -> Any:
    name = parameter.name
    if parameter.is_tensor or parameter.is_tensor_pointer:
        dtype, written = dtypes[name], parameter.direction != "in"
        if parameter.is_tensor:
            found = parse_tensor(shapes.get(name, "2x3"), dtype, written)
            return replace(found, csr=True) if found and parameter.layout == "csr" else found
        return [parse_tensor(text, dtype, written) for text in shapes.get(name, ["2x3", "2x3"])]
    if name in shapes:
        return shapes[name]
    if parameter.type.startswith("diopiGeneratorHandle_t"):
        return [Generator, Generator] if parameter.type.endswith("*") else Generator
    kind = parameter.value_type.removeprefix("const ").removesuffix("*")
    if parameter.values:
        first = parameter.values[0]
        return first if kind == "char" else int(first)
    return NUMBERS.get(name, BY_TYPE.get(kind)) if kind != "diopiSize_t" else None
