"""Arguments in every layout that torch supports, and the strides of results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map_only

from dl_torch_tests.opinfo.relocate import Relocation
from dl_torch_tests.opinfo.sweep import Arguments, run, samples_of, tensors_of

Layout = Callable[[torch.Tensor], torch.Tensor]

LARGEST = 20_000
"""Maximum number of elements of a sample's arguments."""
SAMPLES = 8
"""Maximum number of samples of each operator in each layout."""


def _as_format(dim: int, memory_format: torch.memory_format) -> Layout:
    return lambda x: x.contiguous(memory_format=memory_format) if x.dim() == dim else x


def _without_batch(x: torch.Tensor) -> torch.Tensor:
    """Return a single image or volume without batch, channels last."""
    formats = {3: torch.channels_last, 4: torch.channels_last_3d}
    if x.dim() not in formats:
        return x
    return x.unsqueeze(0).contiguous(memory_format=formats[x.dim()]).squeeze(0)


def _reversed(x: torch.Tensor) -> torch.Tensor:
    order = tuple(reversed(range(x.dim())))
    return x.permute(order).contiguous().permute(order)


def _transposed(x: torch.Tensor) -> torch.Tensor:
    return x.mT.contiguous().mT if x.dim() > 1 else x


def _rotated(x: torch.Tensor) -> torch.Tensor:
    return x.movedim(1, -1).contiguous().movedim(-1, 1) if x.dim() > 2 else x


def _expanded(x: torch.Tensor) -> torch.Tensor:
    return x[:1].expand(x.shape) if x.dim() > 0 and x.is_floating_point() else x


def _sliced(x: torch.Tensor) -> torch.Tensor:
    return torch.stack([x, x], -1).flatten(-2)[..., ::2] if x.dim() > 0 and x.numel() else x


def _narrowed(x: torch.Tensor) -> torch.Tensor:
    """Return a tensor whose last dimension has size 1 and the stride of a larger one."""
    return _reversed(x)[..., :1] if x.dim() > 1 and x.shape[-1] > 1 else x


def _one_place(x: torch.Tensor) -> torch.Tensor:
    """Return images of one pixel, which are contiguous in both memory formats."""
    if x.dim() != 4:
        return x
    return x[:, :, :1, :1].contiguous(memory_format=torch.channels_last)


def _one_channel(x: torch.Tensor) -> torch.Tensor:
    return x[:, :1].contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x


LAYOUTS: dict[str, Layout] = {
    "contiguous": lambda x: x,
    "channels_last": _as_format(4, torch.channels_last),
    "channels_last_3d": _as_format(5, torch.channels_last_3d),
    "channels_last without a batch": _without_batch,
    "reversed": _reversed,
    "transposed": _transposed,
    "rotated": _rotated,
    "expanded": _expanded,
    "sliced": _sliced,
    "narrowed": _narrowed,
    "one place": _one_place,
    "one channel": _one_channel,
}


def samples_in_layout(op: Any, dtype: torch.dtype, layout: str) -> list[Arguments]:
    """Return the first samples of an operator that the layout changes."""
    found: list[Arguments] = []
    for sample in samples_of(op, dtype):
        before = tensors_of(sample)
        if any(x.layout != torch.strided for x in before):
            continue
        if sum(x.numel() for x in before) > LARGEST:
            continue
        sample = tree_map_only(torch.Tensor, lambda x: LAYOUTS[layout](x.detach()), sample)
        unchanged = all(
            a.stride() == b.stride() for a, b in zip(before, tensors_of(sample), strict=True)
        )
        if layout == "contiguous" or not unchanged:
            found.append(sample)
        if len(found) == SAMPLES:
            break
    return found


def strides_on(op: Any, arguments: Arguments, device: str) -> list[tuple[int, ...]] | str:
    """Return the strides of the non-empty results, or the raised error."""

    def call(given: Arguments) -> Any:
        first, args, kwargs = given
        return op(first, *args, **kwargs)

    outcome = run(call, Relocation(device)(arguments))
    if outcome.error is not None:
        return f"{type(outcome.error).__name__}: {outcome.error}"
    leaves = tree_flatten(outcome.result)[0]
    return [x.stride() for x in leaves if isinstance(x, torch.Tensor) and x.numel()]
