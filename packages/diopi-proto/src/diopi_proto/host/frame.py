"""C data of a call that is being prepared."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NoReturn

from ..errors import ArgumentError
from ..schema import Layout
from .generator import Generator
from .instance import Instance
from .structs import CData
from .tensor import Tensor


class Frame:
    """C values of one call, and the Python objects that keep them alive.

    :ivar keep: C memory to which the arguments point.
    :ivar tensors: tensors among the arguments, including entries of arrays.
    :ivar parameters: name of the parameter of each tensor.
    :ivar device: device of the tensors so far; None until one is on a device.
    """

    def __init__(self, instance: Instance, operator: str, device: int | None) -> None:
        self.instance = instance
        self.operator = operator
        self.device = device
        self.keep: list[CData] = []
        self.tensors: list[Tensor] = []
        self.parameters: list[str] = []
        self.generators: list[Generator] = []

    def keep_alive(self, value: CData) -> CData:
        """Keep a value alive until the call has returned, and return it."""
        self.keep.append(value)
        return value

    def fail(self, parameter: str, value: object, expected: str) -> NoReturn:
        """Report an error of an argument.

        :raises ArgumentError: always.
        """
        raise ArgumentError(
            f"[{self.operator}] {parameter}: got {_format_value(value)}, expected {expected}",
            operator=self.operator,
            parameter=parameter,
        )

    def tensor(
        self, parameter: str, value: object, expected: str, layout: Layout = "strided"
    ) -> CData:
        """Return the handle of a tensor after checking that it can be an argument of this call.

        :param layout: layout of the parameter in the schema.
        :raises ArgumentError: it is not a tensor, belongs to another vendor, is on another device
            than the other arguments, or is sparse where a strided tensor is required or vice versa.
        """
        if not isinstance(value, Tensor):
            self.fail(parameter, value, expected)
        if value.is_sparse != (layout == "csr"):
            self.fail(
                parameter,
                value,
                "a tensor of Vendor.sparse_csr"
                if layout == "csr"
                else f"{expected} that is not sparse; convert it to a strided tensor",
            )
        instance = value.storage.instance
        if instance is not self.instance:
            self.fail(parameter, value, f"a tensor of this instance of {self.instance.name}")
        device = value.device
        if device is not None:
            if self.device is None:
                self.device = device
            elif device != self.device:
                self.fail(
                    parameter, value, f"a tensor on device {self.device} like the other tensors"
                )
        self.tensors.append(value)
        self.parameters.append(parameter.partition("[")[0])
        return value.handle

    def generator(self, parameter: str, value: object) -> CData:
        """Return the handle of a generator, which this call will lock.

        :raises ArgumentError: it is not a generator.
        """
        if not isinstance(value, Generator):
            self.fail(parameter, value, "a diopi_proto.Generator")
        self.generators.append(value)
        return value.handle

    @contextmanager
    def generators_held(self) -> Iterator[None]:
        """Lock the generators of this call during the block."""
        with ExitStack() as stack:
            for generator in sorted(set(self.generators), key=lambda g: g.order):
                stack.enter_context(generator.lock)
            yield


def _format_value(value: object) -> str:
    try:
        return (
            repr(value) if isinstance(value, Tensor) else f"{reprlib.repr(value)} ({_kind(value)})"
        )
    except Exception:  # noqa: BLE001 - an integer of thousands of digits, or a class with a failing __repr__
        return f"a {type(value).__name__} whose repr fails"


def _kind(value: object) -> str:
    return type(value).__name__
