"""Products of low-rank adapters, each for its own tokens of a batch."""

from __future__ import annotations

import torch


def add_adapters(
    y: torch.Tensor,
    x: torch.Tensor,
    inner: torch.Tensor,
    outer: torch.Tensor,
    slots: torch.Tensor,
    scale: float = 1.0,
) -> None:
    """Add scale · x Aᵀ Bᵀ of each token's adapter to ``y``, in place and without synchronization.

    Source: Hu et al., LoRA: Low-Rank Adaptation of Large Language Models (2021).

    :param y: [tokens, width], with ``width`` at least the rows of B.
    :param inner: the matrices A, [adapters, 1, rank, columns].
    :param outer: the matrices B, [adapters, 1, rows, rank].
    :param slots: [tokens], the adapter of each token; -1 for none.
    """
    for slot in range(inner.shape[0]):
        add_outer(y, x @ inner[slot, 0].T * scale, outer, slots, slot)


def add_outer(
    y: torch.Tensor, hidden: torch.Tensor, outer: torch.Tensor, slots: torch.Tensor, slot: int
) -> None:
    """Add hidden Bᵀ of one adapter to the rows of its tokens, in place.

    :param hidden: [tokens, rank].
    """
    mine = (slots == slot).unsqueeze(1)
    matrix = outer[slot, 0] if outer.dim() == 4 else outer[slot]
    y[:, : matrix.shape[0]] += torch.where(mine, hidden, 0).to(y.dtype) @ matrix.T
