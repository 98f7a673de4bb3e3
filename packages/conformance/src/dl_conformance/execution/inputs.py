"""Inputs of a case: stored elements for the vendor, and exact ones for the reference."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from diopi_proto.adaptor import AdaptorFile
from diopi_proto.schema import Operator, load
from dl_conformance.adapted import representable
from dl_conformance.case import Case, T
from dl_conformance.inputs import Array, exact, stored
from dl_conformance.layouts import Strided, applies
from dl_conformance.mixed import promoted
from dl_conformance.reference import OutputShape, Unspecified, as_expected, compute
from dl_conformance.sparse import Csr
from dl_conformance.vocabulary import tensors

LARGE = 1 << 16
"""Number of elements of a tensor from which on references compute in float64, which BLAS supports.
Rounding errors of float64 are 2^-29 of the errors of float32. References of float64 cases always
use longdouble."""


class CaseInputs:
    """Inputs of a case.

    :param adaptor: adaptor file of the vendor; its conversions limit the elements of inputs.
    :ivar stored: elements with their layout, :class:`Csr`, or plain values by parameter; lists for
        arrays of tensors.
    :ivar wide: arguments of the reference by parameter.
    """

    def __init__(self, case: Case, adaptor: AdaptorFile | None = None) -> None:
        self._prepare(case, adaptor)
        self._create()

    def _prepare(self, case: Case, adaptor: AdaptorFile | None) -> None:
        self.case = case
        self.adaptor = adaptor
        self.operator: Operator = load()[case.operator]
        self.stored: dict[str, Any] = {}
        self.wide: dict[str, Any] = {}
        sizes = [math.prod(x.sizes) for x in tensors(case.arguments)]
        large = case.dtype != "float64" and max(sizes, default=0) >= LARGE
        self.number: type[np.floating[Any]] = np.float64 if large else np.longdouble

    def refused(self) -> CaseInputs:
        """Return the inputs of the invalid call, which share all unchanged inputs."""
        other = CaseInputs.__new__(CaseInputs)
        other._prepare(self.case.refused(), self.adaptor)
        other.stored, other.wide = {**self.stored}, {**self.wide}
        other._create(self.case.refusal.changed if self.case.refusal else ())
        return other

    def dtype_of(self, name: str) -> str:
        """Return the dtype of a tensor parameter."""
        return self.case.dtypes[name]

    def expected(self) -> dict[str, Any]:
        """Return the outputs that the reference computes."""
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
        absent = {n for n, v in named.items() if v is None}
        present = {p.name for p in self.operator.outputs} - absent
        return compute(self.case.operator, wide, present, shapes, dtypes)

    def shape_mismatch(self, expected: Mapping[str, Any]) -> str:
        """Describe an output of a captured call that does not have the shape of the result."""
        for name, value in expected.items():
            named = self.case.arguments.get(name)
            if not isinstance(named, T) or value is None or isinstance(value, list):
                continue
            wanted = as_expected(value).value
            shape = np.shape(wanted)
            if named.sizes != shape and not isinstance(wanted, Unspecified):
                return (
                    f"{name}: the call has the shape {named.sizes}, but the operator writes {shape}"
                )
        return ""

    def _create(self, only: Collection[str] | None = None) -> None:
        """Create the inputs of all parameters that the operator reads, or of some."""
        for parameter in self.operator.params[1:]:
            name = parameter.name
            if parameter.direction == "out" or name not in self.case.arguments:
                continue
            if only is not None and name not in only:
                continue
            value = self.case.arguments[name]
            if isinstance(value, T) and (value.result_of or value.saved_by):
                continue
            if isinstance(value, T):
                self.stored[name], self.wide[name] = self._elements(
                    name, value, parameter.direction
                )
            elif isinstance(value, list):
                both = [
                    self._elements(name, entry, parameter.direction, f"{name} {at}")
                    if isinstance(entry, T)
                    else (entry, entry)
                    for at, entry in enumerate(value)
                ]
                self.stored[name] = [pair[0] for pair in both]
                self.wide[name] = [pair[1] for pair in both]
            else:
                self.stored[name] = self.wide[name] = value
        # Results of other operators depend on the inputs above.
        for name, value in self.case.arguments.items():
            if only is not None and name not in only:
                continue
            if isinstance(value, T) and value.result_of:
                elements, layout = self._result(name, value)
                self.stored[name] = (elements, layout)
                self.wide[name] = np.asarray(exact(elements, self.dtype_of(name), self.number))
            elif isinstance(value, T) and value.saved_by:
                self.wide[name] = value.given

    def _result(self, name: str, tensor: T) -> tuple[Array, str]:
        """Return the result of another operator for the same inputs, in its storage format."""
        operator, _, output = tensor.result_of.partition(".")
        read = (p.name for p in load()[operator].params[1:] if p.direction != "out")
        known = {**self.wide, **tensor.given}
        names = [name for name in read if name in known]
        outputs = {p.name for p in load()[operator].outputs}
        found = compute(operator, {n: known[n] for n in names}, outputs)[output]
        dtype = self.dtype_of(name)
        elements = stored(np.asarray(as_expected(found).value), dtype)
        elements = representable(self.adaptor, self.operator, name, elements, dtype)
        layout = output_layout(self.case, elements.shape)
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


def output_layout(case: Case, shape: tuple[int, ...]) -> str:
    """Return the layout of a written tensor: the case's layout, unless impossible or expanded."""
    if case.layout == "expanded" or not applies(case.layout, shape):
        return "contiguous"
    return case.layout
