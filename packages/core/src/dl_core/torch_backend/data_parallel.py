"""Functions for ``torch.nn.DataParallel`` that torch's C++ part has only in CUDA builds.

:mod:`.supplied` installs them in other builds of torch. Copies between devices are ordered by
    their streams, as usual.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from dl_core.torch_backend import DEVICE

Tensors = Sequence[torch.Tensor]


def _place(index: int) -> torch.device:
    return torch.device("cpu") if index < 0 else torch.device(DEVICE, index)


def _broadcast(tensor: torch.Tensor, devices: Sequence[int]) -> list[torch.Tensor]:
    return [tensor.to(_place(index)) for index in devices]


def _broadcast_out(tensor: torch.Tensor, out: Tensors) -> Tensors:
    for each in out:
        each.copy_(tensor)
    return out


def _broadcast_coalesced(
    tensors: Tensors, devices: Sequence[int], buffer_size: int
) -> list[list[torch.Tensor]]:
    return [_each_to(tensors, index) for index in devices]


def _each_to(tensors: Tensors, index: int) -> list[torch.Tensor]:
    return [tensor.to(_place(index)) for tensor in tensors]


def _scatter(
    tensor: torch.Tensor,
    devices: Sequence[int],
    chunk_sizes: Sequence[int] | None = None,
    dim: int = 0,
    streams: Sequence[torch.Stream | None] | None = None,
) -> list[torch.Tensor]:
    chunks = _chunks(tensor, chunk_sizes, len(devices), dim)
    return [
        _copy_chunk(chunk, _place(index), streams[position] if streams else None)
        for position, (chunk, index) in enumerate(zip(chunks, devices, strict=False))
    ]


def _chunks(
    tensor: torch.Tensor, sizes: Sequence[int] | None, count: int, dim: int
) -> Sequence[torch.Tensor]:
    return tensor.chunk(count, dim) if sizes is None else tensor.split(list(sizes), dim)


def _copy_chunk(
    chunk: torch.Tensor, place: torch.device, stream: torch.Stream | None
) -> torch.Tensor:
    """Copy a chunk on the caller's stream, which the caller synchronizes."""
    if stream is None:
        return chunk.to(place)
    with stream:
        return chunk.to(place, non_blocking=True)


def _scatter_out(
    tensor: torch.Tensor,
    out: Tensors,
    dim: int = 0,
    streams: Sequence[torch.Stream | None] | None = None,
) -> Tensors:
    sizes = [each.size(dim) for each in out]
    for each, chunk in zip(out, tensor.split(sizes, dim), strict=True):
        each.copy_(chunk)
    return out


def _gather(tensors: Tensors, dim: int, destination: int | None = None) -> torch.Tensor:
    index = torch.accelerator.current_device_index() if destination is None else destination
    return torch.cat(_each_to(tensors, index), dim)


def _gather_out(tensors: Tensors, out: torch.Tensor, dim: int) -> torch.Tensor:
    return out.copy_(torch.cat([tensor.to(out.device) for tensor in tensors], dim))
