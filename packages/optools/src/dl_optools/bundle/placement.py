"""Placement of a bundle's tensors and arguments on a device of this machine."""

from __future__ import annotations

from typing import Any

import torch

from dl_optools.bundle.errors import BundleError
from dl_optools.bundle.reader import Bundle
from dl_optools.bundle.records import TensorRecord
from dl_optools.bundle.restore import (
    build_sparse,
    make_generator,
    view_bytes,
    with_bits,
    with_gradient,
)
from dl_optools.bundle.values import DeviceRef, GeneratorRef, TensorRef, dtype_of, substitute


class Placement:
    """New memory with the bundle's content. Tensors that shared memory share it again.

    :param device: replaces the device that the bundle was captured on.
    :param gradients: inputs that required gradients require them again.
    :raises BundleError: an argument names a device that is neither the captured one nor the CPU.
    """

    def __init__(
        self,
        bundle: Bundle,
        device: torch.device,
        gradients: bool = True,
    ) -> None:
        self.bundle = bundle
        self.target = device
        self._gradients = gradients
        self._memory: dict[tuple[int, str], torch.Tensor] = {}
        self._tensors: dict[int, torch.Tensor] = {}

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the positional and keyword arguments of the call."""
        document = self.bundle.document
        args, kwargs = self.tree((document.args, document.kwargs))
        return args, kwargs

    def tree(self, tree: Any) -> Any:
        """Return a decoded tree with its references replaced."""
        return substitute(tree, self._leaf)

    def tensor(self, index: int) -> torch.Tensor:
        """Return a tensor of the table, always the same object."""
        found = self._tensors.get(index)
        if found is None:
            found = self._tensors[index] = self._with_gradient(index)
        return found

    def device(self, name: str) -> torch.device:
        """Return the device that replaces a captured one."""
        ref = DeviceRef(name)
        if ref.type == self.bundle.document.device:
            return self.target
        if ref.type in ("cpu", "meta"):
            return torch.device(ref.type)
        raise BundleError(
            f"[bundle] {self.bundle.path}: it uses the device {name!r} in addition to "
            f"{self.bundle.document.device!r}; replay it on a machine that has both"
        )

    def _with_gradient(self, index: int) -> torch.Tensor:
        record = self.bundle.document.tensors[index]
        tensor = self._plain(record)
        if record.requires_grad and self._gradients:
            return with_gradient(tensor, record.leaf)
        return tensor

    def _plain(self, record: TensorRecord) -> torch.Tensor:
        if record.stride is None:
            return self._sparse(record)
        assert record.storage is not None
        dtype = dtype_of(record.dtype, "tensor")
        device = self.device(record.device)
        key = (record.storage, str(device))
        flat = self._memory.get(key)
        if flat is None:
            flat = self._memory[key] = self.bundle.storages[record.storage].to(device, copy=True)
        plain = view_bytes(flat, dtype).as_strided(record.shape, record.stride, record.offset)
        return with_bits(plain, record.conj, record.neg)

    def _sparse(self, record: TensorRecord) -> torch.Tensor:
        parts = [self.tensor(index) for index in record.parts.values()]
        return build_sparse(record.layout, parts, record.shape, record.coalesced)

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, TensorRef):
            return self.tensor(value.index)
        if isinstance(value, DeviceRef):
            return self.device(value.name)
        if isinstance(value, str) and value.partition(":")[0] == self.bundle.document.device:
            return str(self.target)
        if isinstance(value, GeneratorRef):
            return self._generator(value)
        return value

    def _generator(self, ref: GeneratorRef) -> torch.Generator:
        device = self.device(ref.device.name)
        return make_generator(device, ref.device.type, ref.seed, self.state(ref.state))

    def state(self, index: int) -> torch.Tensor:
        """Return a generator's state: bytes on the CPU."""
        record = self.bundle.document.tensors[index]
        if record.dtype != "uint8" or record.stride is None or len(record.shape) != 1:
            raise BundleError(
                f"[bundle] {self.bundle.path}: tensor {index} is not a generator's state"
            )
        return self._plain(record).cpu()
