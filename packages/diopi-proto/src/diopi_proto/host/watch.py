"""Checks that a call writes the elements of its outputs and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..errors import StrayWriteError
from ..schema import Operator
from .frame import Frame
from .storage import Storage, noise
from .tensor import Tensor

Mask = npt.NDArray[np.bool_]


class Watch:
    """The memory that a call uses, as it was before the call."""

    def __init__(self, operator: Operator, frame: Frame, salt: int = 0) -> None:
        self._operator = operator
        self._vendor = frame.instance.name
        self._uses = [
            _Use(part, parameter, operator.parameter(parameter).direction != "in")
            for tensor, parameter in zip(frame.tensors, frame.parameters, strict=True)
            for part in (tensor.parts.values() if tensor.is_sparse else (tensor,))
            if part.storage.nbytes
        ]
        self._generators = [(each, each.seed, each.offset) for each in frame.generators]
        self._blocks = [_Block(storage, self._uses, salt) for storage in _distinct(self._uses)]

    def check(self, succeeded: bool, required: Iterable[Tensor]) -> None:
        """Compare the memory with its current contents.

        :param required: tensors that the operator has allocated; their bands are checked too.
        :raises StrayWriteError: the operator wrote outside of its outputs.
        """
        found = [block.stray(self._uses, succeeded) for block in self._blocks]
        found += [_stray_around(tensor) for tensor in required if tensor.storage.band]
        if not succeeded:
            moved = [
                g for g, seed, offset in self._generators if (g.seed, g.offset) != (seed, offset)
            ]
            found += [f"moved {each!r}" for each in moved]
        strays = [each for each in found if each]
        if strays:
            when = "" if succeeded else " before it returned an error"
            raise StrayWriteError(
                f"[{self._operator.name}] {strays[0]}{when} (vendor {self._vendor}); "
                "that is a defect of the vendor",
                operator=self._operator.name,
                vendor=self._vendor,
            )


class _Use:
    """Use of a tensor in a call."""

    def __init__(self, tensor: Tensor, parameter: str, written: bool) -> None:
        self.tensor = tensor
        self.parameter = parameter
        self.written = written

    def bytes(self) -> Mask:
        """Return the bytes of the storage and its bands that belong to the tensor's elements."""
        tensor, storage = self.tensor, self.tensor.storage
        size = tensor.dtype.itemsize
        mask = np.zeros(storage.block_bytes, np.bool_)
        if tensor.size:
            start = storage.band + tensor.offset * size
            steps = tuple(step * size for step in tensor.strides)
            elements = np.lib.stride_tricks.as_strided(
                mask[start:], (*tensor.shape, size), (*steps, 1)
            )
            elements[...] = True
        return mask


class _Block:
    """A storage before a call. Gaps between elements are filled with noise during the call."""

    def __init__(self, storage: Storage, uses: list[_Use], salt: int) -> None:
        self._storage = storage
        self._original = storage.with_bands()
        covered = np.zeros(self._original.size, np.bool_)
        for use in self._of(uses):
            covered |= use.bytes()
        self._gaps = ~covered
        self._before = np.where(self._gaps, noise(self._original.size, salt), self._original)
        storage.write_with_bands(self._before)

    def _of(self, uses: list[_Use]) -> list[_Use]:
        return [use for use in uses if use.tensor.storage is self._storage]

    def stray(self, uses: list[_Use], succeeded: bool) -> str:
        """Return a description of invalid writes; empty if there were none."""
        after = self._storage.with_bands()
        allowed = _padding_of(self._storage)
        if succeeded:
            for use in self._of(uses):
                if use.written:
                    allowed |= use.bytes()
        changed = np.flatnonzero((after != self._before) & ~allowed)
        if changed.size or self._gaps.any():
            # Restore the contents, except for the elements that the operator wrote.
            self._storage.write_with_bands(np.where(self._gaps, self._original, after))
        if not changed.size:
            return ""
        return f"wrote {self._place(uses, changed)}"

    def _place(self, uses: list[_Use], changed: npt.NDArray[np.intp]) -> str:
        at, storage = int(changed[0]), self._storage
        names = " and ".join(dict.fromkeys(use.parameter for use in self._of(uses)))
        for use in self._of(uses):
            if use.bytes()[at]:
                return f"{changed.size} bytes of {use.parameter}"
        if at < storage.band:
            return f"{changed.size} bytes, the first of them {storage.band - at} before {names}"
        if at >= storage.band + storage.nbytes:
            beyond = at - storage.band - storage.nbytes
            return f"{changed.size} bytes, the first of them {beyond} after the end of {names}"
        return f"{changed.size} bytes between the elements of {names}"


def _distinct(uses: list[_Use]) -> list[Storage]:
    return list({id(use.tensor.storage): use.tensor.storage for use in uses}.values())


def _padding_of(storage: Storage) -> Mask:
    """Return the padding of a block, whose contents are undefined at all times."""
    mask = np.zeros(storage.block_bytes, np.bool_)
    end = storage.band + storage.nbytes
    mask[end : end + storage.padding] = True
    return mask


def _stray_around(tensor: Tensor) -> str:
    storage = tensor.storage
    outside = ~_padding_of(storage)
    outside[storage.band : storage.band + storage.nbytes] = False
    changed = (storage.with_bands() != noise(outside.size)) & outside
    return (
        f"wrote {int(changed.sum())} bytes around a tensor that it required"
        if changed.any()
        else ""
    )
