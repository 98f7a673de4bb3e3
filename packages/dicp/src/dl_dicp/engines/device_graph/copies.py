"""Copies between inputs and results of a call and the memory of a device graph."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dl_dicp.program.agreement import replica
from dl_dicp.recording.memory import bytes_of

FARTHEST = 1 << 20
"""Maximum number of bytes before a small input that its copy includes."""


class Slot:
    """Static memory of a capture, into which an input is copied before each replay.

    :ivar tensor: the copy, with the strides and the storage offset of the input.
    :raises ValueError: the storage would be much larger than the input.
    """

    def __init__(self, value: Tensor) -> None:
        before = value.storage_offset() * value.element_size()
        if before > max(bytes_of(value), FARTHEST):
            raise ValueError(f"a transient input has an offset of {before} bytes in its storage")
        self.tensor = replica(value.detach())
        self._once = once_each(self.tensor)
        self._repeats = self._once.shape != self.tensor.shape

    def fill(self, value: Tensor) -> None:
        """Copy an input into the static memory.

        :raises RuntimeError: its layout differs from the layout of the captured input.
        """
        if value.shape != self.tensor.shape or value.dtype != self.tensor.dtype:
            raise RuntimeError(
                f"[dl] an input of a captured graph is {value.dtype} {tuple(value.shape)}, but was "
                f"{self.tensor.dtype} {tuple(self.tensor.shape)} in the capture"
            )
        self._once.copy_(once_each(value) if self._repeats else value)


def write(value: Tensor, wanted: Tensor) -> None:
    """Copy the static memory back into an input that the graph has mutated."""
    with torch.inference_mode(value.is_inference()):
        value.copy_(wanted)


def once_each(tensor: Tensor) -> Tensor:
    """Return a view in which each element has its own address, so that it can be written. Expanded
    dimensions are reduced to one row."""
    shape = [
        1 if step == 0 else size for size, step in zip(tensor.shape, tensor.stride(), strict=True)
    ]
    if shape == list(tensor.shape) or not tensor.numel():
        return tensor
    return tensor.as_strided(shape, tensor.stride(), tensor.storage_offset())


class Outputs:
    """Results of a graph in static memory, which the next replay overwrites.

    :param made: result tensors; those that share a storage still share one after copying.
    """

    def __init__(self, made: Sequence[Tensor]) -> None:
        self._made = list(made)
        storages = [each.untyped_storage() for each in made]
        keys = [storage._cdata for storage in storages]
        self._alone = [
            keys.count(key) == 1 and _fills(each) for key, each in zip(keys, made, strict=True)
        ]
        self._sources: list[Tensor] = []
        self._places: list[int] = []
        places: dict[int, int] = {}
        for each, storage, alone in zip(made, storages, self._alone, strict=True):
            if storage._cdata not in places:
                places[storage._cdata] = len(self._sources)
                self._sources.append(each if alone else _bytes_of(storage, each.device))
            self._places.append(places[storage._cdata])

    def memory(self) -> list[Tensor]:
        """Allocate memory for copies of all results."""
        return [torch.empty_like(each) for each in self._sources]

    def copied(self, memory: Sequence[Tensor]) -> list[Tensor]:
        """Return new tensors with copies of the results, in stream order.

        :param memory: result of :meth:`memory`, to be used for one call.
        """
        for to, source in zip(memory, self._sources, strict=True):
            to.copy_(source)
        return [
            memory[place] if alone else _like(each, memory[place])
            for each, place, alone in zip(self._made, self._places, self._alone, strict=True)
        ]


def _bytes_of(storage: torch.UntypedStorage, device: torch.device) -> Tensor:
    empty = torch.empty(0, dtype=torch.uint8, device=device)
    return empty.set_(storage, 0, (storage.nbytes(),), (1,))


def _like(tensor: Tensor, block: Tensor) -> Tensor:
    """Return a tensor in a block with the layout of ``tensor``. It is not a view for autograd."""
    made = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    return made.set_(
        block.untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride()
    )


def _fills(tensor: Tensor) -> bool:
    """Return True if a tensor covers its storage without gaps, so that a clone has its strides."""
    step = 1
    for size, stride in sorted(
        ((n, s) for n, s in zip(tensor.shape, tensor.stride(), strict=True) if n != 1),
        key=lambda each: each[1],
    ):
        if stride != step:
            return False
        step *= size
    whole = tensor.untyped_storage().nbytes()
    return step * tensor.element_size() == whole and tensor.storage_offset() == 0
