"""The call of a vendor's operator: tensors on the device, workspaces, and results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from diopi_proto import Generator, Tensor, Vendor
from diopi_proto.dtypes import DTYPES
from diopi_proto.schema import Operator, Parameter, load
from dl_conformance.case import T
from dl_conformance.fault import Fault, wrong_value
from dl_conformance.inputs import wrong_everywhere
from dl_conformance.layouts import Strided, in_format, place, strides_of
from dl_conformance.reference import as_expected
from dl_conformance.sparse import Csr

from .inputs import CaseInputs, output_layout

HOST_SCALARS = ("bool*", "double*", "int64_t*")
"""Types of host scalars that an operator writes, and that its Python function returns."""


class Call:
    """One call of a vendor's operator.

    :param expected: outputs of the reference, for which tensors are allocated and filled with
        elements that are all wrong.
    :ivar arguments: arguments of the operator by parameter.
    """

    def __init__(self, vendor: Vendor, inputs: CaseInputs, expected: Mapping[str, Any]) -> None:
        self.vendor = vendor
        self.inputs = inputs
        self.case = inputs.case
        self.operator: Operator = inputs.operator
        self.arguments: dict[str, Any] = {}
        for parameter in self.operator.params[1:]:
            self._place(parameter, expected)

    def prepare(self) -> Fault | None:
        """Make the calls that must precede this one: workspace size, preparation, forward pass.

        :returns: a fault if such a call wrote an input or returned no size.
        """
        fault = self._allocate_workspaces() or self._run_preparation()
        if fault is None:
            self._run_saving_operators()
        return fault

    def run(self, **how: Any) -> dict[str, Any]:
        """Call the operator, and return its outputs by parameter, with all arguments.

        :param how: stream and other options of the call.
        """
        return self._results(self.vendor.op[self.case.operator](**self.arguments, **how))

    def refused(self, expected: Mapping[str, Any]) -> Call:
        """Return the invalid call derived from this valid one.

        :param expected: outputs of this call; the invalid call has the same outputs unless it
            changes them.
        """
        changed = self.case.refusal.changed if self.case.refusal else {}
        written = {p.name for p in self.operator.params if p.direction == "out"}
        outputs = {n: _zeros(x) for n, x in changed.items() if n in written and x is not None}
        kept = {n: x for n, x in expected.items() if n not in changed}
        other = Call(self.vendor, self.inputs.refused(), {**kept, **outputs})
        # Reuse workspaces and saved tensors.
        for name, value in self.arguments.items():
            if name not in changed and other.arguments.get(name) is None:
                other.arguments[name] = value
        return other

    def expected_strides(self) -> tuple[int, ...] | None:
        """Return the strides that the contract specifies for the allocated output, if any."""
        if self.operator.name != "diopiContiguous":
            return None
        elements, layout = self.inputs.stored["input"]
        given = (
            layout.strides if isinstance(layout, Strided) else strides_of(layout, elements.shape)[0]
        )
        return in_format(self.case.arguments["memoryFormat"], elements.shape, given)

    def is_unchanged(self, name: str) -> bool:
        """Return True if the tensors and generators of a parameter are as they were passed."""
        values, originals = self.arguments[name], self.inputs.stored[name]
        if not isinstance(values, list):
            values, originals = [values], [originals]
        for value, original in zip(values, originals, strict=True):
            if isinstance(value, Tensor) and not holds(value, original):
                return False
            if isinstance(value, Generator) and (value.seed, value.offset) != original:
                return False
        return True

    def modified_inputs(self) -> list[Fault]:
        """Return a fault for each input tensor that the operator modified."""
        faults = []
        for parameter in self.operator.params[1:]:
            name = parameter.name
            tensor, original = self.arguments.get(name), self.inputs.stored.get(name)
            if parameter.direction != "in" or not isinstance(tensor, Tensor):
                continue
            if isinstance(original, tuple) and not holds(tensor, original):
                faults.append(wrong_value(f"{name}: the input was modified"))
        return faults

    def _place(self, parameter: Parameter, expected: Mapping[str, Any]) -> None:
        name = parameter.name
        if parameter.direction != "out":
            if name in self.inputs.stored:
                self.arguments[name] = self._input(name, self.inputs.stored[name])
            return
        written = parameter.is_tensor or parameter.is_tensor_pointer
        if not written or parameter.allocated_by == "vendor":
            if self.case.arguments.get(name, ...) is None:
                self.arguments[name] = None
        elif name not in expected:
            self.arguments[name] = None
        elif isinstance(expected[name], list):
            self.arguments[name] = [self._output(name, x) for x in expected[name]]
        else:
            self.arguments[name] = self._output(name, expected[name])

    def _input(self, name: str, value: Any) -> Any:
        if isinstance(value, Csr):
            return value.place(self.vendor, self.inputs.dtype_of(name))
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], np.ndarray):
            elements, layout = value
            given = self.case.arguments[name]
            one = given[0] if isinstance(given, list) else given
            dtype = getattr(one, "dtype", None) or self.case.dtypes[name]
            return place(self.vendor, elements, dtype, layout)
        if isinstance(value, list):
            return [
                None if entry is None else self._input_entry(name, at, entry)
                for at, entry in enumerate(value)
            ]
        if _is_generator(self.operator.parameter(name)) and value is not None:
            return Generator(seed=value[0], offset=value[1])
        return value

    def _input_entry(self, name: str, at: int, entry: tuple[Any, Any]) -> Tensor | Generator:
        if _is_generator(self.operator.parameter(name)):
            return Generator(seed=entry[0], offset=entry[1])
        dtype = self.case.arguments[name][at].dtype or self.case.dtypes[name]
        return place(self.vendor, entry[0], dtype, entry[1])

    def _output(self, name: str, expected: Any) -> Tensor:
        dtype = self.inputs.dtype_of(name)
        elements = wrong_everywhere(np.asarray(as_expected(expected).value), dtype)
        named = self.case.arguments.get(name)
        if isinstance(named, T) and named.strides is not None and named.sizes == elements.shape:
            return place(self.vendor, elements, dtype, Strided(named.strides))
        return place(self.vendor, elements, dtype, output_layout(self.case, elements.shape))

    def _allocate_workspaces(self) -> Fault | None:
        """Query the sizes of workspaces, and allocate them."""
        names = {p.name for p in self.operator.params if p.is_tensor and p.nullable}
        sizes = [p for p in self.operator.params if p.type == "int64_t*" and p.direction == "inout"]
        pairs = {p.name.removesuffix("_size"): p.name for p in sizes}
        absent = {k: v for k, v in pairs.items() if k in names and self.arguments.get(k) is None}
        if not absent:
            return None
        query = {**self.arguments, **dict.fromkeys(absent.values(), -1)}
        found = self._results(self.vendor.op[self.case.operator](**query))
        changed = [name for name in self.inputs.stored if not self.is_unchanged(name)]
        if changed:
            return wrong_value(f"{', '.join(changed)}: written by a call that only queries sizes")
        for name, size in absent.items():
            if found[size] is None or found[size] < 0:
                return wrong_value(f"{size}: got {found[size]}, want the size of {name} in bytes")
            dtype, self.arguments[size] = self.inputs.dtype_of(name), found[size]
            elements = -(-found[size] // DTYPES[dtype].itemsize)
            if elements:
                self.arguments[name] = self.vendor.empty((elements,), dtype)
        return None

    def _run_preparation(self) -> Fault | None:
        """Make the preparing call, if the call needs one first."""
        if not self.arguments.get("is_prepared"):
            return None
        self.vendor.op[self.case.operator](**{**self.arguments, "is_prepared": False})
        present = [name for name, value in self.inputs.stored.items() if value is not None]
        changed = [name for name in present if not self.is_unchanged(name)]
        if changed:
            return wrong_value(f"{', '.join(changed)}: written by a call that only prepares")
        return None

    def _run_saving_operators(self) -> None:
        """Run the vendor's operators that save tensors for this one, such as a forward pass."""
        for name, tensor in self.case.arguments.items():
            if not isinstance(tensor, T) or not tensor.saved_by or name in self.arguments:
                continue
            operator, _, _ = tensor.saved_by.partition(".")
            known = {**self.arguments, **_with_generators(load()[operator], tensor.given)}
            for parameter in load()[operator].outputs:
                # This call has the right output as an input, which must stay unchanged.
                if parameter.allocated_by != "vendor":
                    given = self.arguments[parameter.name]
                    known[parameter.name] = self.vendor.empty(given.shape, given.dtype.name)
            bound = self.vendor.op[operator]
            returned = bound(**{n: known[n] for n in bound.arguments})
            names = [p.name for p in load()[operator].outputs if p.allocated_by == "vendor"]
            saved = dict(zip(names, returned, strict=True))
            for other, value in self.case.arguments.items():
                if isinstance(value, T) and value.saved_by.startswith(f"{operator}."):
                    self.arguments[other] = saved[value.saved_by.partition(".")[2]]

    def _results(self, returned: Any) -> dict[str, Any]:
        """Return the arguments with the returned tensors and host scalars."""
        results = dict(self.arguments)
        values = list(returned) if isinstance(returned, tuple) else [returned]
        for parameter in self.operator.params[1:]:
            allocated = parameter.allocated_by == "vendor"
            scalar = parameter.direction != "in" and parameter.type in HOST_SCALARS
            if (allocated or scalar) and values:
                results[parameter.name] = values.pop(0)
        return results


def holds(tensor: Tensor, original: Any) -> bool:
    """Return True if a tensor has the elements from which it was created."""
    if isinstance(original, Csr):
        return original.is_in(tensor)
    return bool(tensor.numpy().tobytes() == original[0].tobytes())


def _is_generator(parameter: Parameter) -> bool:
    """Return True if a parameter is a generator or an array of generators."""
    return parameter.value_type.rstrip("*") == "diopiGeneratorHandle_t"


def _with_generators(operator: Operator, given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: Generator(seed=value[0], offset=value[1])
        if _is_generator(operator.parameter(name)) and value is not None
        else value
        for name, value in given.items()
    }


def _zeros(value: Any) -> Any:
    """Return zeros in the shape of an output."""
    if isinstance(value, list):
        return [_zeros(each) for each in value]
    return np.zeros(value.sizes)
