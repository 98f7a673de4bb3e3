"""FlexAttention and its gradient by other operators.

Masks, and terms that do not depend on the scores, are arguments of fused attention; other
modifications are applied to the scores of all pairs. The formulas are those of Dong et al., "Flex
Attention: A Programming Model for Generating Optimized Attention Kernels" (arXiv:2412.05496).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._higher_order_ops.flex_attention import flex_attention, flex_attention_backward
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing
from torch.nn.attention import SDPBackend
from torch.utils._pytree import tree_leaves

_fused = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
_fused_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default
_LN2 = math.log(2.0)
"""The operators exchange logarithms to base 2."""


def _per_query_head(query: Tensor, given: Tensor) -> Tensor:
    """Expand keys or values [Bkv, Hkv, S, E] to the batch and the heads of the queries."""
    batch, heads = query.shape[:2]
    groups = heads // given.shape[1]
    if given.shape[0] != batch:
        given = given.expand(batch, *given.shape[1:])
    if groups == 1:
        return given
    return given.unsqueeze(2).expand(-1, -1, groups, -1, -1).flatten(1, 2)


def _per_key_head(grad: Tensor, like: Tensor) -> Tensor:
    """Sum gradients over the queries' batch and heads that share keys or values."""
    groups = grad.shape[1] // like.shape[1]
    if groups > 1:
        grad = grad.unflatten(1, (like.shape[1], groups)).sum(2)
    return grad if grad.shape[0] == like.shape[0] else grad.sum(0, keepdim=True)


def _working(query: Tensor) -> torch.dtype:
    return torch.float64 if query.dtype == torch.float64 else torch.float32


def _returns_scores(score_mod: Callable[..., Tensor]) -> bool:
    """Return True if a traced modification returns the scores."""
    if not isinstance(score_mod, GraphModule):
        return False
    score, *_, output = score_mod.graph.nodes
    return tree_leaves(output.args[0]) == [score]


def _is_bias(score_mod: Callable[..., Tensor]) -> bool:
    """Return True if a traced modification returns the scores, or adds a term without them."""
    if not isinstance(score_mod, GraphModule):
        return False
    score, *_, output = score_mod.graph.nodes
    (result,) = tree_leaves(output.args[0])
    adds = isinstance(result, Node) and result.target is torch.ops.aten.add.Tensor
    return _returns_scores(score_mod) or (
        adds and not result.kwargs and result.args.count(score) == 1 and len(score.users) == 1
    )


def _trains_captured(joint: Callable[..., Any]) -> bool:
    """Return True if a captured tensor gets a gradient from the gradient of a modification."""
    if not isinstance(joint, GraphModule):
        return True
    *_, output = joint.graph.nodes
    _, *others = output.args[0]
    return any(isinstance(each, Node) for each in others)


def _places(query: Tensor, key: Tensor) -> list[Tensor]:
    """Return the indices of the four dimensions of the scores, [B, H, L, S]."""
    sizes = (*query.shape[:-1], key.shape[-2])
    return [torch.arange(size, device=query.device) for size in sizes]


def _of_all_pairs(
    function: Callable[..., Tensor], places: Sequence[Tensor], captured: Sequence[Any]
) -> Tensor:
    """Return a function of the four indices for all pairs, [B, H, L, S]."""
    from torch.nn.attention.flex_attention import _vmap_for_bhqkv

    mapped = _vmap_for_bhqkv(function, prefix=(), suffix=(None,) * len(captured))
    values: Tensor = mapped(*places, *captured)
    return values


def _fused_mask(
    query: Tensor,
    key: Tensor,
    score_mod: Callable[..., Tensor],
    block_mask: Sequence[Any],
    of_score: Sequence[Any],
    of_mask: Sequence[Any],
) -> Tensor:
    """Return the argument of fused attention: the mask, or a bias that is -inf where it hides."""
    places = _places(query, key)
    visible = _of_all_pairs(block_mask[-1], places, of_mask)
    if _returns_scores(score_mod):
        return visible
    zero = torch.zeros((), dtype=_working(query), device=query.device)
    bias = _of_all_pairs(lambda *rest: score_mod(zero, *rest), places, of_score)
    visible, bias = (_without_copies(each) for each in (visible, bias.to(zero.dtype)))
    return torch.where(visible, bias, -math.inf).expand(*query.shape[:-1], key.shape[-2])


def _without_copies(expanded: Tensor) -> Tensor:
    """Return a tensor with one element in each dimension in which all are the same memory."""
    for dim, stride in enumerate(expanded.stride()):
        if stride == 0:
            expanded = expanded.narrow(dim, 0, 1)
    return expanded


def _has_fused(query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Return True if the vendor's fused attention takes the operands and a mask."""
    operands = (query, key, value)
    alike = len({x.shape[0] for x in operands}) == len({x.dtype for x in operands}) == 1
    sizes = [(x.shape[1], x.shape[3]) for x in operands]
    if not alike or not all(isinstance(n, int) for each in sizes for n in each):
        return False
    # torch answers for real tensors only.
    with unset_fake_temporarily(), disable_proxy_modes_tracing():
        real = [
            torch.empty(1, heads, 1, width, dtype=query.dtype, device=query.device)
            for heads, width in sizes
        ]
        mask = torch.ones((), dtype=torch.bool, device=query.device)
        choice = torch._fused_sdp_choice(real[0], real[1], real[2], mask, enable_gqa=True)
    return choice == SDPBackend.OVERRIDEABLE.value


class _Scores:
    """Scores of all pairs, before and after the modifications.

    :ivar raw: scaled products of queries and keys, [B, H, L, S].
    :ivar places: indices of the four dimensions.
    :ivar visible: the mask.
    :ivar final: modified scores, -inf for invisible pairs.
    """

    def __init__(
        self,
        query: Tensor,
        key: Tensor,
        score_mod: Callable[..., Tensor],
        block_mask: Sequence[Any],
        scale: float,
        of_score: Sequence[Any],
        of_mask: Sequence[Any],
    ) -> None:
        from torch.nn.attention.flex_attention import _vmap_for_bhqkv

        dtype = _working(query)
        self.raw = (query.to(dtype) * scale) @ key.to(dtype).transpose(-2, -1)
        self.places = _places(query, key)
        score = _vmap_for_bhqkv(score_mod, prefix=(0,), suffix=(None,) * len(of_score))
        modified = score(self.raw, *self.places, *of_score).to(dtype)
        self.visible = _of_all_pairs(block_mask[-1], self.places, of_mask)
        self.final = torch.where(self.visible, modified, -math.inf)


def _forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Tensor],
    block_mask: Sequence[Any],
    scale: float,
    kernel_options: Any,
    of_score: Sequence[Any] = (),
    of_mask: Sequence[Any] = (),
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the results, the log-sum-exp and the maximum of the scores."""
    fused: tuple[Tensor, Tensor] | None = None
    if _is_bias(score_mod) and _has_fused(query, key, value):
        mask = _fused_mask(query, key, score_mod, block_mask, of_score, of_mask)
        fused = _fused(query, key, value, 0.0, False, attn_mask=mask, scale=scale)
    key, value = (_per_query_head(query, each) for each in (key, value))
    scores = _Scores(query, key, score_mod, block_mask, scale, of_score, of_mask).final
    largest = scores.amax(-1)
    if fused is not None:
        # The graph computes the maximum, for which it needs all scores, only if it is used.
        return fused[0], fused[1] / _LN2, largest / _LN2
    weights = torch.softmax(scores, -1).to(query.dtype)
    hidden = (largest == -math.inf).unsqueeze(-1)
    out = (weights @ value.to(query.dtype)).masked_fill(hidden, 0.0)
    return out, scores.logsumexp(-1) / _LN2, largest / _LN2


def _backward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    grad_out: Tensor | None,
    grad_logsumexp: Tensor | None,
    score_mod: Callable[..., Tensor],
    joint: Callable[..., Any],
    block_mask: Sequence[Any],
    scale: float,
    kernel_options: Any,
    of_score: Sequence[Any] = (),
    of_mask: Sequence[Any] = (),
) -> tuple[Tensor, Tensor, Tensor, tuple[Any, ...]]:
    """Return the gradients of queries, keys, values and captured tensors.

    :param joint: function of the score modification that returns its gradients.
    """
    from torch.nn.attention.flex_attention import _vmap_for_bhqkv

    grad_out = torch.zeros_like(out) if grad_out is None else grad_out
    only_inputs = grad_logsumexp is None and not _trains_captured(joint)
    if only_inputs and _is_bias(score_mod) and _has_fused(query, key, value):
        grads = _fused_backward(
            *(grad_out, query, key, value, out, logsumexp * _LN2, 0.0, False),
            attn_mask=_fused_mask(query, key, score_mod, block_mask, of_score, of_mask),
            scale=scale,
        )
        return (*grads, (None,) * len(of_score))
    keys, values = (_per_query_head(query, each) for each in (key, value))
    scores = _Scores(query, keys, score_mod, block_mask, scale, of_score, of_mask)
    dtype = scores.raw.dtype
    natural = (logsumexp * _LN2).unsqueeze(-1)
    weights = torch.exp(scores.final - natural).masked_fill(natural == -math.inf, 0.0)
    grad_values = weights.to(query.dtype).transpose(-2, -1) @ grad_out
    grad_weights = grad_out.to(dtype) @ values.to(dtype).transpose(-2, -1)
    shared = (out.to(dtype) * grad_out.to(dtype)).sum(-1, keepdim=True)
    if grad_logsumexp is not None:
        shared = shared - (grad_logsumexp / _LN2).unsqueeze(-1)
    others = [None] * len(of_score)
    gradient = _vmap_for_bhqkv(
        joint, prefix=(0,), suffix=(0, *others), out_dims=[0, None, None, None, None, *others]
    )
    grad_scores, _, _, _, _, *captured = gradient(
        scores.raw, *scores.places, weights * (grad_weights - shared), *of_score
    )
    grad_scores = torch.where(scores.visible, grad_scores * scale, 0.0).to(query.dtype)
    return (
        grad_scores @ keys,
        _per_key_head(grad_scores.transpose(-2, -1) @ query, key),
        _per_key_head(grad_values, value),
        tuple(captured),
    )


FORMULAS: dict[Any, Callable[..., Any]] = {
    flex_attention: _forward,
    flex_attention_backward: _backward,
}
"""Formulas of the operators, with their arguments."""
