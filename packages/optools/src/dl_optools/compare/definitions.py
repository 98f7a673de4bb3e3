"""Definitions of results that are saved for a gradient, where the CPU is not a reference.

The CPU leaves parts of these results uninitialised, or uses another format. A definition computes
the right value, and the elements for which it exists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

Tensor = torch.Tensor
Bound = Mapping[str, Any]
Defined = tuple[Tensor, Tensor]
"""The values, and a mask of the defined ones."""

SUM, MEAN, MAX = 0, 1, 2


def find_definition(name: str, bound: Bound, at: int, got: Tensor, want: Any) -> Defined | None:
    """Return the defined values of a result; None: no definition replaces the reference.

    :param name: name of the operator.
    :param bound: the call's arguments by name, with defaults.
    :param at: index of the result.
    :param want: the result of the reference.
    """
    definition = DEFINITIONS.get((name, at))
    return None if definition is None else definition({**bound, "at": at}, got, want)


def _everywhere(value: Tensor) -> Defined:
    return value, torch.ones(value.shape, dtype=torch.bool)


def _nowhere(got: Tensor) -> Defined:
    return got, torch.zeros(got.shape, dtype=torch.bool)


def _bags(bound: Bound) -> tuple[Tensor, Tensor, int]:
    """Return the bag of each index, which indices count, and the number of bags."""
    indices, offsets = bound["indices"].long().flatten(), bound["offsets"].long()
    count = offsets.numel() - bool(bound.get("include_last_offset"))
    place = torch.arange(indices.numel())
    bag = torch.bucketize(place, offsets[:count].contiguous(), right=True) - 1
    return bag, indices != int(bound.get("padding_idx", -1)), count


def _bag_of_index(bound: Bound, got: Tensor, want: Any) -> Defined | None:
    """Return the bag of each index; empty if the device's gradient recomputes the bags."""
    bag, _, _ = _bags(bound)
    return _everywhere(bag.to(got.dtype)) if got.numel() else _nowhere(got)


def _bag_sizes(bound: Bound, got: Tensor, want: Any) -> Defined | None:
    """Return the sizes that gradients of mean and max read; sum does not read them."""
    bag, counts, count = _bags(bound)
    sizes = torch.zeros(count, dtype=torch.long).index_add(0, bag, counts.long())
    read = int(bound.get("mode", SUM)) in (MEAN, MAX)
    if not read and got.shape != sizes.shape:
        return _nowhere(got)
    return sizes.to(got.dtype), torch.full(sizes.shape, read)


def _winners(bound: Bound, got: Tensor, want: Any) -> Defined | None:
    """Return the table row of each maximum: any row among equal ones."""
    if int(bound.get("mode", SUM)) != MAX:
        return _nowhere(got)
    table = bound["weight"].double()
    indices = bound["indices"].long().flatten()
    bag, counts, count = _bags(bound)
    shape = (count, table.size(1))
    if got.shape != torch.Size(shape) or bool(((got < 0) | (got >= table.size(0))).any()):
        return torch.full(shape, -1, dtype=got.dtype), torch.ones(shape, dtype=torch.bool)
    best = torch.full(shape, -math.inf, dtype=table.dtype)
    rows = table[indices[counts]]
    best = best.scatter_reduce(0, bag[counts].unsqueeze(1).expand_as(rows), rows, "amax")
    filled = torch.zeros(count, dtype=torch.long).index_add(0, bag, counts.long()) > 0
    member = torch.zeros(count, table.size(0), dtype=torch.bool)
    member[bag[counts], indices[counts]] = True
    right = (table.gather(0, got.long()) == best) & member.gather(1, got.long())
    known = filled.unsqueeze(1).expand(shape) & ~best.isnan()
    return torch.where(right, got, -1), known


def _log_alpha(bound: Bound, got: Tensor, want: Any) -> Defined | None:
    """Return the log of the forward variables, up to each sequence's input and target length.

    Source: Graves et al., Connectionist Temporal Classification (2006), section 4.1.
    """
    if not isinstance(want, Tensor) or want.dim() != 3 or got.shape != want.shape:
        return None
    inputs = torch.as_tensor(bound["input_lengths"]).reshape(-1, 1, 1)
    targets = torch.as_tensor(bound["target_lengths"]).reshape(-1, 1, 1)
    time = torch.arange(want.size(1)).reshape(1, -1, 1)
    state = torch.arange(want.size(2)).reshape(1, 1, -1)
    return want, ((time < inputs) & (state < 2 * targets + 1)).expand(want.shape)


def _log_sum(bound: Bound, got: Tensor, want: Any) -> Defined | None:
    """Return the log of the sum of exponentials of each row; fully masked rows have none.

    Devices may round the number of rows up; no gradient reads the padding.
    """
    if not isinstance(want, Tensor) or got.shape[:-1] != want.shape[:-1]:
        return None
    if got.size(-1) < want.size(-1):
        return _everywhere(want)
    value = torch.zeros(got.shape, dtype=want.dtype)
    value[..., : want.size(-1)] = want
    known = torch.zeros(got.shape, dtype=torch.bool)
    known[..., : want.size(-1)] = _sees_a_key(bound)
    return value, known


def _sees_a_key(bound: Bound) -> Tensor:
    """Return a mask of the query rows that see a key, broadcastable to [N, H, L]."""
    mask = bound.get("attn_bias") if bound.get("attn_mask") is None else bound.get("attn_mask")
    if mask is None:
        return torch.ones((), dtype=torch.bool)
    seen = mask if mask.dtype is torch.bool else ~mask.isneginf()
    if bound.get("is_causal"):
        seen = seen.expand(*seen.shape[:-2], bound["query"].size(-2), bound["key"].size(-2)).tril()
    rows: Tensor = seen.any(-1)
    return rows


ROUNDED_AWAY = 1 / 16
"""Absolute error of a score from which on the weights of a row are not determined."""


def _gradient(bound: Bound, got: Tensor, want: Any) -> Defined | None:
    """Return a gradient of attention, without rows whose weights the scores do not determine.

    The weights are ``exp(score - sum)`` of rounded values: if the last digit of a score is a large
    part of 1, any weights are equally right. Gradients of queries are independent per row;
    gradients of keys, values and masks are sums over the rows of a head.
    """
    query, key = bound["query"], bound["key"]
    if not isinstance(want, Tensor) or got.shape != want.shape or query.dim() != 4:
        return None
    eps = torch.finfo(torch.float64 if query.dtype is torch.float64 else torch.float32).eps
    factor = bound.get("scale") or 1 / math.sqrt(query.size(-1))
    keys = key.double().abs().repeat_interleave(query.size(1) // max(key.size(1), 1), 1)
    size = (query.double().abs() @ keys.transpose(-2, -1)).amax(-1) * abs(factor)
    sure = size * eps < ROUNDED_AWAY
    if want.shape == query.shape and want.shape[:3] == sure.shape and bound["at"] == 0:
        return want, sure.unsqueeze(-1).expand(want.shape)
    whole = bool(sure.all())
    if want.dim() == 4 and want.size(0) == query.size(0) and want.size(1) in (1, query.size(1)):
        heads = sure.all(-1) if want.size(1) > 1 else sure.flatten(1).all(-1, keepdim=True)
        return want, heads[:, :, None, None].expand(want.shape)
    return want, torch.full(want.shape, whole)


def _workspace(bound: Bound, got: Tensor, want: Any) -> Defined | None:
    """Return the activated gates of a recurrent cell, in the format of torch's own devices."""
    same = isinstance(want, Tensor) and got.shape == want.shape
    return _everywhere(want) if same else None


def _buffer(bound: Bound, got: Tensor, want: Any) -> Defined | None:
    """Return ``exp(-|x|)`` of ``log_sigmoid``; devices that recompute it leave it empty."""
    if not got.numel():
        return _nowhere(got)
    return None


_ATTENTION = (
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_fused_attention_overrideable",
)

DEFINITIONS: dict[tuple[str, int], Callable[[Bound, Tensor, Any], Defined | None]] = {
    ("_ctc_loss", 1): _log_alpha,
    ("_thnn_fused_gru_cell", 1): _workspace,
    ("_thnn_fused_lstm_cell", 2): _workspace,
    ("log_sigmoid_forward", 1): _buffer,
    **{(name, 1): _log_sum for name in _ATTENTION},
    **{(f"{name}_backward", at): _gradient for name in _ATTENTION for at in range(4)},
    **{
        (name, at): definition
        for name in ("_embedding_bag", "_embedding_bag_forward_only")
        for at, definition in enumerate((_bag_of_index, _bag_sizes, _winners), 1)
    },
}
"""Definitions by the operator's name and the index of the result."""
