"""Cases: one call of one operator each, with a descriptive name."""

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
    """Description of a tensor argument.

    :ivar shape: sizes, as ``"3x4"`` (``"-"`` without dimensions) or a tuple.
    :ivar low: lower bound of random elements; at least 0 for unsigned dtypes.
    :ivar high: upper bound of random elements; inclusive for integers.
    :ivar values: the elements, instead of random ones.
    :ivar dtype: dtype of the elements; None: the dtype that the schema's rule determines.
    :ivar diagonal: added to the diagonal of the last two dimensions, to make random matrices
        well conditioned or positive definite.
    :ivar apart: all elements are distinct, so that their order is unique.
    :ivar result_of: ``"diopiX.out"``: the output of that operator for the inputs of the same names.
    :ivar saved_by: ``"diopiX.stored"``: the output of the vendor's own operator for the same
        inputs, in a format of its own, which is passed on unchanged.
    :ivar given: additional arguments of the operator that ``saved_by`` or ``result_of`` names.
    :ivar plain: use neither edge values nor other layouts. Edge values are not used either where
        both a dtype and a range are given, as for indices.
    :ivar stored: elements of a captured call, in the storage format of the dtype.
    :ivar strides: strides of that tensor, with ``offset``, in elements; None: from the layout of
        the case.
    :ivar csr: dtype of the indices of a sparse CSR tensor. The tensor stores the nonzero elements
        of ``values``, or a random part of random elements.
    :ivar density: mean share of random elements that a sparse tensor stores.
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
    saved_by: str = ""
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
        """Return the elements in the storage format of the dtype; random ones depend on ``key``."""
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
    """Changes that make a valid call invalid.

    :ivar changed: arguments by parameter that replace those of the valid call.
    :ivar in_data: elements are invalid, not arguments. A device may detect that only after it has
        begun to write, so the outputs are not compared.
    """

    changed: Mapping[str, Any]
    in_data: bool = False


@dataclass(frozen=True)
class Case:
    """One call of an operator.

    :ivar name: ``diopiAdd[float16-transposed-3x41-alpha=2]``.
    :ivar arguments: by parameter, a :class:`T`, a list of :class:`T`, None, or a plain value.
    :ivar dtypes: dtype of every tensor parameter.
    :ivar layout: layout of the tensors to which it applies.
    :ivar edge: kind of edge values that fill the inputs: "", "special" or "extreme".
    :ivar models: models that make this call.
    :ivar source: description of the captured call, for a case from a file.
    :ivar refusal: changes with which the operator must refuse the call that it otherwise computes.
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
        """Return the invalid call, which the operator must refuse."""
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
