"""Products of tokens with the weights of their experts."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional


def run_experts(
    x: torch.Tensor,
    inner: torch.Tensor,
    outer: torch.Tensor,
    weights: torch.Tensor,
    experts: torch.Tensor,
    gate: Callable[[torch.Tensor], torch.Tensor],
    biases: tuple[torch.Tensor | None, torch.Tensor | None] = (None, None),
    weigh_input: bool = False,
) -> torch.Tensor:
    """Return the weighted sum of the outputs of each token's experts.

    :param x: [tokens, hidden].
    :param inner: [experts, 2 · size, hidden], gate and input projections.
    :param outer: [experts, hidden, size].
    :param weights: [tokens, k] of ``experts`` [tokens, k].
    :param weigh_input: multiply the input by the weight, not the output.
    """
    chosen, order = experts.flatten().sort(stable=True)
    tokens = torch.div(order, experts.shape[1], rounding_mode="floor")
    count = inner.shape[0]
    # The end of each expert's rows.
    places = torch.arange(count, device=x.device, dtype=chosen.dtype)
    ends = torch.searchsorted(chosen, places, right=True, out_int32=True)
    factor = weights.flatten()[order, None].to(x.dtype)
    rows = x[tokens]
    if weigh_input:
        rows = rows * factor
    hidden = functional.grouped_mm(rows, inner.transpose(1, 2), offs=ends)
    if biases[0] is not None:
        hidden = hidden + biases[0][chosen]
    half = hidden.shape[1] // 2
    products = gate(hidden[:, :half]) * hidden[:, half:]
    results = functional.grouped_mm(products, outer.transpose(1, 2), offs=ends)
    if biases[1] is not None:
        results = results + biases[1][chosen]
    if not weigh_input:
        results = results * factor
    return torch.zeros_like(x).index_add_(0, tokens, results)
