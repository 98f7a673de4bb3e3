"""Memory model of a graph: blocks, and tensors as views of blocks.

While a graph is recorded, every tensor has an address. A block is a range of addresses with a
common lifetime: a tensor that the caller passes, the storage of a result, or temporaries of one
operator that shared memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from diopi_proto.dtypes import DTYPES
from diopi_proto.schema import DTYPES as DTYPE_NAMES
from dl_dicp.errors import HostCallError, NotCompiledError

TORCH_DTYPES: dict[torch.dtype, str] = {
    found: name
    for name in DTYPE_NAMES
    if isinstance(found := getattr(torch, name, None), torch.dtype)
}
DTYPE_OF = {name: dtype for dtype, name in TORCH_DTYPES.items()}


@dataclass(eq=False)
class Block:
    """Range of memory.

    :ivar base: its address while the graph was recorded.
    :ivar size: size in bytes; an expression if the program serves many sizes.
    :ivar given: the tensor that covers the block if it comes from outside the contract graphs: an
        argument, a constant, or a result of a host call.
    :ivar slot: slot of ``given`` among the values of a run.
    """

    base: int
    size: Any
    given: Ref | None = None
    slot: int = -1

    def holds(self, address: int, size: int) -> bool:
        """Return True if the block contains a range of addresses."""
        return self.base <= address and address + size <= self.base + self.size


@dataclass(frozen=True)
class Ref:
    """Tensor as a view of a block. Sizes, strides and offsets are recorded as integers; in a
    program for many sizes they may be expressions.

    :ivar dtype: the contract's name of the dtype.
    :ivar offset: offset in bytes from the start of the block.
    :ivar storage_offset: offset in elements in the torch storage.
    """

    block: Block
    dtype: str
    shape: tuple[Any, ...]
    strides: tuple[Any, ...]
    offset: Any
    storage_offset: int = field(default=0, compare=False)


def span(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Return the number of elements from the first to the last one of a tensor, inclusive."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))


def bytes_of(tensor: torch.Tensor) -> int:
    """Return the number of bytes from the first to the last one of a tensor."""
    return span(tensor.shape, tensor.stride()) * tensor.element_size()


def is_plain(value: object, device: torch.device) -> bool:
    """Return True if a value is a dense tensor of the device with a dtype of the contract."""
    return (
        isinstance(value, torch.Tensor)
        and value.device == device
        and value.layout == torch.strided
        and value.dtype in TORCH_DTYPES
        and not value.is_conj()
        and not value.is_neg()
        and not value._is_zerotensor()  # a zero tensor has no memory
    )


def ref_to_argument(tensor: torch.Tensor, slot: int) -> Ref:
    """Return a new block for an external tensor, and the tensor as a view of it."""
    block = Block(tensor.data_ptr(), bytes_of(tensor), slot=slot)
    block.given = _ref(block, tensor)
    return block.given


def block_of_result(tensor: torch.Tensor) -> Block:
    """Return a new block for the whole storage of a result."""
    storage = tensor.untyped_storage()
    return Block(storage.data_ptr(), storage.nbytes())


def _ref(block: Block, tensor: torch.Tensor) -> Ref:
    offset = tensor.data_ptr() - block.base if tensor.numel() else 0
    return Ref(
        block,
        TORCH_DTYPES[tensor.dtype],
        tuple(tensor.shape),
        tuple(tensor.stride()),
        offset,
        int(tensor.storage_offset()),
    )


def view_of(block: Block, tensor: torch.Tensor) -> Ref:
    """Return a tensor as a view of a block.

    :raises NotCompiledError: it extends beyond the block, as a result of ``as_strided`` may.
    """
    if tensor.numel() and not block.holds(tensor.data_ptr(), bytes_of(tensor)):
        raise NotCompiledError("a view extends beyond the tensor from which it was created")
    return _ref(block, tensor)


@dataclass
class Addresses:
    """Blocks that one operator can access, by address."""

    blocks: list[Block]
    temporaries: list[Block] = field(default_factory=list)

    def add_temporaries(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Create blocks for the ranges (address, bytes) that are not in a block.

        :raises HostCallError: a temporary overlaps a result without lying within it.
        """
        unknown = sorted(r for r in ranges if r[1] and self._find(*r, self.blocks) is None)
        for address, size in unknown:
            last = self.temporaries[-1] if self.temporaries else None
            if last is not None and address < last.base + last.size:
                last.size = max(last.size, address + size - last.base)
            else:
                self.temporaries.append(Block(address, size))
        for made in self.temporaries:
            for block in self.blocks:
                if made.base < block.base + block.size and block.base < made.base + made.size:
                    raise HostCallError("its temporaries share memory with its results")

    def ref(
        self, address: int, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...]
    ) -> Ref:
        """Return a tensor of a recorded call as a view of its block.

        :raises HostCallError: its offset in the block is not a multiple of its element size.
        """
        item = DTYPES[dtype].itemsize
        size = span(shape, strides) * item
        if size == 0:
            return Ref(Block(0, 0), dtype, shape, strides, 0)
        block = self._find(address, size, self.blocks) or self._find(
            address, size, self.temporaries
        )
        if block is None:
            raise HostCallError("it uses memory that does not belong to any tensor of the graph")
        if (address - block.base) % item:
            raise HostCallError("a tensor is not aligned to its elements")
        return Ref(block, dtype, shape, strides, address - block.base)

    @staticmethod
    def _find(address: int, size: int, blocks: list[Block]) -> Block | None:
        return next((block for block in blocks if block.holds(address, size)), None)
