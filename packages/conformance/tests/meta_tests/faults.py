"""A vendor with right operators except for one seeded fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from diopi_proto import Tensor, Vendor
from diopi_proto.schema import load
from diopi_proto.tolerance import bfloat16_to_float32, float32_to_bfloat16


@dataclass
class Call:
    """One call of the faulty operator.

    :ivar right: computes the right result; given arguments replace the call's.
    """

    vendor: Vendor
    operator: str
    passed: dict[str, Any]
    function: Callable[..., Any]

    def right(self, **replaced: Any) -> Any:
        return self.function(**{**self.passed, **replaced})

    def change(self, name: str, change: Callable[[np.ndarray], Any]) -> None:
        """Replace the elements of a tensor by a function of their values; bfloat16 is widened."""
        tensor = self.passed[name]
        array = tensor.numpy()
        if tensor.dtype.name == "bfloat16":
            array = bfloat16_to_float32(array)
        with np.errstate(all="ignore"):
            tensor.copy_from(np.asarray(change(array.copy())))

    def array(self, name: str) -> np.ndarray:
        return np.asarray(self.passed[name].numpy())


Fault = Callable[[Call], Any]


class Operators:
    def __init__(self, vendor: Vendor, faults: dict[str, Fault]) -> None:
        self.vendor, self.faults = vendor, faults

    def __getitem__(self, name: str) -> Callable[..., Any]:
        function, fault = self.vendor.op[name], self.faults.get(name)
        if fault is None:
            return function

        def called(**passed: Any) -> Any:
            return fault(Call(self.vendor, name, passed, function))

        return called


class Faulty:
    """The part of a vendor that :func:`dl_conformance.execution.run` needs, with faults."""

    def __init__(self, vendor: Vendor, faults: dict[str, Fault]) -> None:
        self.operators = vendor.operators
        self.tensor = vendor.tensor
        self.empty = vendor.empty
        self.sparse_csr = vendor.sparse_csr
        self.op = Operators(vendor, faults)


def outputs(call: Call) -> list[Tensor]:
    """Return the tensors that the call must write."""
    found = []
    for parameter in load()[call.operator].outputs:
        value = call.passed.get(parameter.name)
        found += value if isinstance(value, list) else [value]
    return [x for x in found if isinstance(x, Tensor)]


def nothing(call: Call) -> None:
    """Succeed without writing anything."""


def copy_first_input(call: Call) -> None:
    """Copy the first input to every output with its shape and dtype."""
    read = [call.passed.get(p.name) for p in load()[call.operator].params if p.direction != "out"]
    flat = [y for x in read for y in (x if isinstance(x, list) else [x]) if isinstance(y, Tensor)]
    for tensor in outputs(call):
        if flat and flat[0].shape == tensor.shape and flat[0].dtype == tensor.dtype:
            tensor.copy_from(flat[0].numpy())


def narrowed(array: np.ndarray) -> np.ndarray:
    """Round to bfloat16."""
    return bfloat16_to_float32(float32_to_bfloat16(array.astype(np.float32)))
