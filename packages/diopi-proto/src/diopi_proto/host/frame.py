"""C data of one call while it is being prepared."""

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
    """The C values of one call and the Python objects that keep them alive.

    :ivar keep: C memory that the arguments point to.
    :ivar tensors: the tensors among the arguments.
    :ivar parameters: the parameter of each of them; of an entry of an array, the array's.
    :ivar device: of the tensors so far; None until one is on a device.
    """

    def __init__(self, instance: Instance, operator: str, device: int | None) -> None:
        self.instance = instance
        self.operator = operator
        self.device = device
        self.keep: list[CData] = []
        self.tensors: list[Tensor] = []
        self.parameters: list[str] = []
        self.generators: list[Generator] = []

    def kept(self, value: CData) -> CData:
        """The value, kept until the call is over."""
        self.keep.append(value)
        return value

    def fail(self, parameter: str, value: object, expected: str) -> NoReturn:
        """:raises ArgumentError: always."""
        raise ArgumentError(
            f"[{self.operator}] {parameter}: got {_shown(value)}, expected {expected}",
            operator=self.operator,
            parameter=parameter,
        )

    def tensor(
        self, parameter: str, value: object, expected: str, layout: Layout = "strided"
    ) -> CData:
        """The handle of a tensor that may take part in this call.

        :param layout: what the schema says of the parameter.
        :raises ArgumentError: no tensor, another vendor's, or on another device than the others;
            or a sparse one where the operator reads elements, or the other way round.
        """
        if not isinstance(value, Tensor):
            self.fail(parameter, value, expected)
        if value.is_sparse != (layout == "csr"):
            self.fail(
                parameter,
                value,
                "a tensor of Vendor.sparse_csr"
                if layout == "csr"
                else f"{expected} that is not sparse: this operator reads elements one by one",
            )
        instance = value.storage.instance
        if instance is not self.instance:
            self.fail(parameter, value, f"a tensor of this instance of {self.instance.name}")
        device = value.device
        if device is not None:
            if self.device is None:
                self.device = device
            elif device != self.device:
                self.fail(parameter, value, f"a tensor on device {self.device} like the others")
        self.tensors.append(value)
        self.parameters.append(parameter.partition("[")[0])
        return value.handle

    def generator(self, parameter: str, value: object) -> CData:
        """The handle of a generator, which this call will hold.

        :raises ArgumentError: no generator.
        """
        if not isinstance(value, Generator):
            self.fail(parameter, value, "a diopi_proto.Generator")
        self.generators.append(value)
        return value.handle

    @contextmanager
    def generators_held(self) -> Iterator[None]:
        """Nobody else draws from this call's generators meanwhile."""
        with ExitStack() as stack:
            for generator in sorted(set(self.generators), key=lambda g: g.order):
                stack.enter_context(generator.lock)
            yield


def _shown(value: object) -> str:
    try:
        return (
            repr(value) if isinstance(value, Tensor) else f"{reprlib.repr(value)} ({_kind(value)})"
        )
    except Exception:  # noqa: BLE001 - an integer of thousands of digits, or a class of its own kind
        return f"a {type(value).__name__} that cannot be shown"


def _kind(value: object) -> str:
    return type(value).__name__
