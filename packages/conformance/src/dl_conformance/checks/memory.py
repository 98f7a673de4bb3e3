"""Checks of device memory: alignment, copies, exhaustion and leaks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from diopi_proto import OperatorError, OutOfMemoryError, Tensor, Vendor
from diopi_proto.host.cabi import ffi
from dl_conformance.execution.refusal import DECLINED
from dl_conformance.inputs import integers
from dl_conformance.queues.bench import WITHIN

from .check import SkipError, check, offered, operator, require

ALIGNMENT = 64
SIZES = (1, 2, 63, 64, 65, 1000, 4096, 4097, 100_003, (1 << 20) + 3)
"""Sizes of blocks in bytes."""
LEAK = 64 << 20
"""Allowed difference of free memory in bytes: what a driver or an allocator caches."""
BLOCK = 8 << 20
COUNT, ROUNDS = 64, 8
"""Number of blocks that are allocated and freed, and number of repetitions."""
MORE_THAN_ANY = 1 << 50
"""Number of bytes that exceeds every device and address space."""


def pattern(count: int, key: str) -> np.ndarray:
    return integers(f"check {key}", count, 0, 255).astype(np.uint8)


@check("blocks are aligned to 64 bytes")
def alignment(vendor: Vendor) -> None:
    kept = [vendor.empty((size,), "uint8") for size in SIZES]
    for size, tensor in zip(SIZES, kept, strict=True):
        over = tensor.address % ALIGNMENT
        require(not over, f"a block of {size} bytes starts {over} bytes after a multiple of 64")


@check("elements survive a round trip to the device")
def round_trip(vendor: Vendor) -> None:
    for size in SIZES:
        want = pattern(size, f"trip {size}")
        got = vendor.tensor(want).numpy()
        wrong = np.flatnonzero(got != want)
        require(not wrong.size, f"byte {wrong[:1]} of {size} is {got[wrong[:1]]}")


@check("blocks do not overlap")
def apart(vendor: Vendor) -> None:
    wanted = [pattern(size, f"apart {at}") for at, size in enumerate(SIZES * 3)]
    tensors = [vendor.tensor(want) for want in wanted]
    for want, tensor in zip(wanted, tensors, strict=True):
        require(
            np.array_equal(tensor.numpy(), want),
            f"a block of {want.size} bytes changed when others were written",
        )


@check("freeing a tensor does not change others")
def freed(vendor: Vendor) -> None:
    wanted = [pattern(size, f"freed {size}") for size in SIZES]
    tensors = [vendor.tensor(want) for want in wanted]
    del tensors[::2]
    again = [vendor.tensor(np.zeros(size, np.uint8)) for size in SIZES]
    for want, tensor in zip(wanted[1::2], tensors, strict=True):
        require(np.array_equal(tensor.numpy(), want), f"{want.size} bytes changed")
    del again


@check("copies within the device are exact")
def within(vendor: Vendor) -> None:
    _copies_exactly(vendor, "memory_copy", np.uint8, partial(_copy_bytes, vendor))
    if vendor.operators["diopiCopyInp"]:
        copy = operator(vendor, "diopiCopyInp")
        _copies_exactly(vendor, "diopiCopyInp", _dtype_taken_by(vendor, copy), copy)


def _copies_exactly(
    vendor: Vendor, name: str, dtype: npt.DTypeLike, copy: Callable[[Tensor, Tensor], None]
) -> None:
    for size in SIZES:
        want = pattern(size, f"within {size}").astype(dtype)
        source, target = vendor.tensor(want), vendor.tensor(np.zeros(size, dtype))
        copy(source, target)
        of = f"{name}: a copy of {size} {np.dtype(dtype)} elements"
        require(np.array_equal(target.numpy(), want), f"{of} differs")
        require(np.array_equal(source.numpy(), want), f"{of} changed its source")


def _copy_bytes(vendor: Vendor, source: Tensor, target: Tensor) -> None:
    """Copy a tensor of uint8 by the slot, which knows no dtypes."""
    ends = (ffi.cast("void*", x.address) for x in (target, source))
    vendor.slots.call("memory_copy", 0, *ends, source.size, WITHIN, ffi.NULL)
    vendor.synchronize()


def _dtype_taken_by(vendor: Vendor, copy: Callable[[Tensor, Tensor], None]) -> npt.DTypeLike:
    """Return a dtype in which an operator copies: a chip may compute in float32 only."""
    try:
        copy(vendor.empty((1,), "uint8"), vendor.empty((1,), "uint8"))
    except OperatorError as error:
        if error.code not in DECLINED:
            raise
        return np.float32
    return np.uint8


@check("an allocation beyond the memory is refused, and the device still works")
def too_much(vendor: Vendor) -> None:
    try:
        _, total = offered("memory_info", lambda: vendor.memory_info(0))
        asked = 8 * max(total, 1 << 40)
    except SkipError:
        asked = MORE_THAN_ANY
    try:
        vendor.empty((asked,), "uint8")
    except OutOfMemoryError as error:
        require(str(error).strip(), "the error has no message")
    else:
        require(False, f"a block of {asked} bytes was allocated")
    want = pattern(1000, "after")
    require(np.array_equal(vendor.tensor(want).numpy(), want), "elements differ afterwards")


@check("freed memory can be allocated again")
def no_leak(vendor: Vendor) -> None:
    vendor.tensor(np.zeros(BLOCK, np.uint8))
    lost = []
    for _ in range(ROUNDS):
        before, _ = offered("memory_info", lambda: vendor.memory_info(0))
        for _ in range(COUNT):
            vendor.tensor(np.zeros(BLOCK, np.uint8))
        vendor.synchronize()
        after, _ = vendor.memory_info(0)
        lost.append(before - after)
        # A leak loses all blocks in every round; memory taken by other programs is missing only
        # once.
        if lost[-1] < COUNT * BLOCK / 2:
            return
    require(False, f"{min(lost)} bytes fewer are free after blocks were allocated and freed")
