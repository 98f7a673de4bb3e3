"""A case: one call of one operator, whose name says what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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
    :ivar diagonal: added to random numbers on the diagonal of the last two dimensions: makes
        matrices that are well conditioned, or positive definite.
    :ivar apart: no two elements are equal, so that an order of them is one.
    :ivar result_of: ``"diopiX.out"``: what that operator gives for the inputs of the same names.
    :ivar kept_by: ``"diopiX.stored"``: what the vendor's own operator keeps there for the same
        inputs, in a format of its own, which is handed on as it is.
    :ivar given: what that operator, or the one of ``result_of``, is given besides.
    :ivar plain: neither edge values nor another layout are tried on it; no edge values either
        where both a dtype and a range are named, as of indices.
    :ivar stored: the elements as the dtype stores them, of a call that was captured.
    :ivar strides: of that tensor, with ``offset``, in elements; None: those of the case's layout.
    :ivar csr: of a sparse CSR tensor, the dtype of its indices. It holds the elements that are not
        0 where ``values`` are given, and a part of the random ones.
    :ivar density: how large a part, in the mean.
    """

    shape: str | Shape
    low: float | None = None
    high: float | None = None
    values: Any = None
    dtype: str | None = None
    diagonal: float = 0.0
    apart: bool = False
    plain: bool = False
    result_of: str = ""
    kept_by: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    stored: Array | None = None
    strides: Shape | None = None
    offset: int = 0
    csr: str = ""
    density: float = 0.4

    @property
    def sizes(self) -> Shape:
        if isinstance(self.shape, tuple):
            return self.shape
        return () if self.shape == "-" else tuple(map(int, self.shape.split("x")))

    def elements(self, key: str, dtype: str, edge: str) -> Array:
        """The elements as the dtype stores them; other ones with another key."""
        sizes = self.sizes
        count = prod(sizes)
        if self.stored is not None:
            return self.stored
        if self.values is not None:
            values = np.asarray(self.values)
            return np.ascontiguousarray(stored(np.resize(values, sizes), dtype)).reshape(sizes)
        bounded = self.dtype is not None and self.low is not None
        if edge and not self.plain and not bounded:
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
            return stored(self._raised(uniform(key, count, low, high)), dtype)
        if dtype in COMPLEX:
            parts = [uniform(f"{key} {part}", count, low, high) for part in ("real", "imaginary")]
            return stored(self._raised(parts[0] + 1j * parts[1]), dtype)
        first = max(int(low), 0) if dtype.startswith("u") else int(low)
        return stored(integers(key, count, first, max(int(high), first)), dtype)

    def _raised(self, values: Array) -> Array:
        if not self.diagonal:
            return values
        rows, columns = self.sizes[-2:]
        return np.asarray(values.reshape(self.sizes) + self.diagonal * np.eye(rows, columns))


@dataclass(frozen=True)
class Refusal:
    """What makes a right call one that has to be refused.

    :ivar changed: arguments by parameter, in place of those of the right call.
    :ivar in_data: elements are wrong, not arguments. A device may find that when it has begun to
        write, so that the outputs mean nothing.
    """

    changed: Mapping[str, Any]
    in_data: bool = False


@dataclass(frozen=True)
class Case:
    """One call.

    :ivar name: ``diopiAdd[float16-transposed-3x41-alpha=2]``.
    :ivar arguments: by parameter, a :class:`T`, a list with those, None, or a plain value.
    :ivar dtypes: of every tensor parameter.
    :ivar layout: of the tensors that can have it.
    :ivar edge: which edge values fill the inputs: "", "special" or "extreme".
    :ivar models: those that make this call.
    :ivar source: what was captured, of a case that comes from a file.
    :ivar refusal: the operator has to compute the call, and to refuse it with these changes.
    """

    name: str
    operator: str
    dtype: str
    layout: str
    edge: str
    arguments: Mapping[str, Any]
    dtypes: Mapping[str, str] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    source: str = ""
    refusal: Refusal | None = None

    def refused(self) -> Case:
        """The call that has to be refused."""
        changed = self.refusal.changed if self.refusal else {}
        given = {}
        for name, value in changed.items():
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, T) and each.dtype:
                    given[name] = each.dtype
        return replace(
            self,
            arguments={**self.arguments, **changed},
            dtypes={**self.dtypes, **given},
            refusal=None,
        )
