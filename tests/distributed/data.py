"""Inputs that every rank can compute for every rank, and exact expected results."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.distributed as dist

DEVICE = "dl"

REDUCED = [
    *(torch.float32, torch.float64, torch.float16, torch.bfloat16),
    *(torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64),
    *(torch.uint16, torch.uint32, torch.float8_e4m3fn, torch.float8_e5m2),
]
MOVED = [*REDUCED, torch.bool, torch.complex64, torch.complex128, torch.uint64]
SHAPES = [(), (0,), (5,), (3, 4)]


def values(rank: int, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Return small integers that differ by rank; they and their sums are exact in every dtype."""
    count = torch.Size(shape).numel()
    numbers = (torch.arange(count) * (rank + 2) + rank) % 5 + 1
    if dtype == torch.bool:
        numbers = numbers % 2
    return numbers.reshape(shape).to(dtype)


def everyone(shape: tuple[int, ...], dtype: torch.dtype) -> list[torch.Tensor]:
    return [values(rank, shape, dtype) for rank in range(dist.get_world_size())]


def on_dl(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(DEVICE)


def strided(tensor: torch.Tensor) -> torch.Tensor:
    """Return the same values on dl, in every second element of new memory."""
    room = torch.zeros((*tensor.shape, 2), dtype=tensor.dtype).to(DEVICE)
    view = room[..., 0]
    view.copy_(tensor)
    assert tensor.numel() <= 1 or not view.is_contiguous()
    return view


def same(got: torch.Tensor, expected: torch.Tensor, what: object) -> None:
    """Check that device, dtype, sizes and every bit are equal."""
    assert got.device.type == DEVICE, f"{what}: the result is on {got.device}"
    assert got.dtype == expected.dtype, f"{what}: {got.dtype}"
    there = got.cpu()
    assert there.shape == expected.shape, f"{what}: {there.shape}, expected {expected.shape}"
    there, expected = there.contiguous(), expected.contiguous()
    if there.numel() == 0:
        return
    bits = there.flatten().view(torch.uint8), expected.flatten().view(torch.uint8)
    assert torch.equal(*bits), f"{what}: got {there}, expected {expected}"


FOLDS: dict[str, Callable[[list[torch.Tensor]], torch.Tensor]] = {
    "SUM": lambda parts: sum(parts[1:], parts[0]),
    "PRODUCT": lambda parts: torch.stack(parts).prod(0),
    "MIN": lambda parts: torch.stack(parts).amin(0),
    "MAX": lambda parts: torch.stack(parts).amax(0),
}


def folded(parts: list[torch.Tensor], operation: str) -> torch.Tensor:
    """Return a reduction, computed in float64 or int64 and rounded once."""
    dtype = parts[0].dtype
    wide = torch.float64 if dtype.is_floating_point else torch.int64
    if dtype.is_complex:
        wide = torch.complex128
    many = [part.to(wide) for part in parts]
    if operation == "AVG":
        total = FOLDS["SUM"](many)
        mode = None if wide.is_floating_point or wide.is_complex else "trunc"
        return torch.div(total, len(many), rounding_mode=mode).to(dtype)
    return FOLDS[operation](many).to(dtype)
