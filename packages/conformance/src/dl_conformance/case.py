"""A case: one call of one operator, whose name says what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from .inputs import COMPLEX, FLOATS, Array, edge_values, integers, stored, uniform

Shape = tuple[int, ...]


@dataclass(frozen=True)
class T:
    """A tensor of a call.

    :ivar shape: sizes, as ``"3x4"`` (``"-"`` without dimensions) or a tuple.
    :ivar low: where random numbers begin. Unsigned ones begin at 0 at least.
    :ivar high: where they end; for integers the last one.
    :ivar values: the elements, in place of random ones.
    :ivar dtype: None: by the rule of the schema.
    :ivar apart: no two elements are equal, so that an order of them is one.
    :ivar result_of: ``"diopiX.out"``: what that operator gives for the inputs of the same names.
    :ivar plain: neither edge values nor another layout are tried on it.
    """

    shape: str | Shape
    low: float | None = None
    high: float | None = None
    values: Any = None
    dtype: str | None = None
    apart: bool = False
    plain: bool = False
    result_of: str = ""

    @property
    def sizes(self) -> Shape:
        if isinstance(self.shape, tuple):
            return self.shape
        return () if self.shape == "-" else tuple(map(int, self.shape.split("x")))

    def elements(self, key: str, dtype: str, edge: str) -> Array:
        """The elements as the dtype stores them; other ones with another key."""
        sizes = self.sizes
        count = prod(sizes)
        if self.values is not None:
            values = np.asarray(self.values)
            return np.ascontiguousarray(stored(np.resize(values, sizes), dtype)).reshape(sizes)
        if edge and not self.plain:
            values = edge_values(dtype, edge == "special")
            start = int(integers(key, 1, 0, len(values) - 1)[0])
            return np.resize(np.roll(values, start), sizes)
        if self.apart:
            order = np.argsort(uniform(key, count, 0, 1), kind="stable")
            steps = (order - count // 2) if dtype not in ("uint8", "bool") else order
            return stored(steps / 8 if dtype in FLOATS else steps, dtype).reshape(sizes)
        return self._random(key, count, dtype).reshape(sizes)

    def _random(self, key: str, count: int, dtype: str) -> Array:
        if dtype == "bool":
            return np.asarray(integers(key, count, 0, 1).astype(bool))
        low = -3.0 if self.low is None else self.low
        high = 3.0 if self.high is None else self.high
        if dtype in FLOATS:
            return stored(uniform(key, count, low, high), dtype)
        if dtype in COMPLEX:
            parts = [uniform(f"{key} {part}", count, low, high) for part in ("real", "imaginary")]
            return stored(parts[0] + 1j * parts[1], dtype)
        first = max(int(low), 0) if dtype.startswith("u") else int(low)
        return stored(integers(key, count, first, max(int(high), first)), dtype)


@dataclass(frozen=True)
class Case:
    """One call.

    :ivar name: ``diopiAdd[float16-transposed-3x41-alpha=2]``.
    :ivar arguments: by parameter, a :class:`T`, a list with those, None, or a plain value.
    :ivar dtypes: of every tensor parameter.
    :ivar layout: of the tensors that can have it.
    :ivar edge: which edge values fill the inputs: "", "special" or "extreme".
    :ivar models: those that make this call.
    """

    name: str
    operator: str
    dtype: str
    layout: str
    edge: str
    arguments: Mapping[str, Any]
    dtypes: Mapping[str, str] = field(default_factory=dict)
    models: tuple[str, ...] = ()
