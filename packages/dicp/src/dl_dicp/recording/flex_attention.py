"""FlexAttention as operators of a graph.

AOTAutograd leaves ``flex_attention`` and its backward as higher-order operators with subgraphs for
the modifications of scores. Their eager forms copy scalars from the host, which a contract graph
cannot. Here they are replaced by operators without such copies, with the formulas of Dong et al.,
"Flex Attention: A Programming Model for Generating Optimized Attention Kernels" (arXiv:2412.05496).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch._dynamo._trace_wrapped_higher_order_op  # defines `flex_lib::zeros_and_scatter`
from torch import Tensor
from torch._guards import detect_fake_mode
from torch._higher_order_ops.flex_attention import flex_attention, flex_attention_backward
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing, make_fx
from torch.nn.attention import SDPBackend
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

_fused = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
_fused_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default
_LN2 = math.log(2.0)
"""The operators exchange logarithms to base 2."""


def expand_attention(module: GraphModule, decompositions: dict[Any, Callable[..., Any]]) -> int:
    """Replace the attention operators of a graph; return their number.

    An operator that cannot be traced stays, and becomes a host call.
    """
    found = [node for node in module.graph.nodes if node.target in _FORMULAS]
    done = sum(_expand(module, node, decompositions) for node in found)
    if done:
        module.graph.lint()
        module.recompile()
    return done


def _expand(module: GraphModule, node: Node, decompositions: dict[Any, Callable[..., Any]]) -> bool:
    leaves, spec = tree_flatten((node.args, node.kwargs))
    inputs = [each for each in leaves if isinstance(each, Node) and _tensor(each) is not None]
    inputs = list(dict.fromkeys(inputs))
    others = {x: _constant(module, x) for x in leaves if isinstance(x, Node) and x not in inputs}
    examples = [_tensor(each) for each in inputs]
    mode = detect_fake_mode(examples)
    strides = [x.stride() for x in tree_leaves(node.meta["val"]) if isinstance(x, Tensor)]

    specs: list[Any] = []

    def call(*tensors: Tensor) -> list[Any]:
        values = {**others, **dict(zip(inputs, tensors, strict=True))}
        given = [values[x] if isinstance(x, Node) else x for x in leaves]
        args, kwargs = tree_unflatten(given, spec)
        flat, found = tree_flatten(_FORMULAS[node.target](*args, **kwargs))
        specs[:] = [found]
        count = 1 if node.target is flex_attention else 3
        return [*map(_in_order, flat[:count], strides), *flat[count:]]

    try:
        with mode or torch.no_grad(), torch.no_grad():
            traced = make_fx(call, {**decompositions, _SCATTER: _scatter})(*examples)
    except Exception:  # noqa: BLE001 - the eager operator remains, as a host call
        return False
    added, flat = _insert(module, node, traced, inputs)
    _replace(node, tree_unflatten(flat, specs[0]))
    for each in reversed(added):
        if not each.users:  # for a result that the graph does not use
            module.graph.erase_node(each)
    return True


def _tensor(node: Node) -> Tensor | None:
    """Return the fake tensor of a node."""
    value = node.meta.get("val")
    return value if isinstance(value, Tensor) else None


def _constant(module: GraphModule, node: Node) -> Any:
    """Return the subgraph or the integer that a node stands for."""
    if node.op == "get_attr":
        return operator.attrgetter(str(node.target))(module)
    return node.meta.get("val")


def _insert(
    module: GraphModule, before: Node, traced: GraphModule, inputs: Sequence[Node]
) -> tuple[list[Node], list[Any]]:
    """Copy the nodes of a traced graph; return the copies, and the nodes of the results."""
    copies: dict[Node, Node] = {}
    waiting = iter(inputs)
    added: list[Node] = []
    results: list[Any] = []
    with module.graph.inserting_before(before):
        for node in traced.graph.nodes:
            if node.op == "placeholder":
                copies[node] = next(waiting)
            elif node.op == "output":
                results = tree_map(lambda x: copies[x] if isinstance(x, Node) else x, node.args[0])
            else:
                copy = copies[node] = module.graph.node_copy(node, lambda x: copies[x])
                added.append(copy)
                if node.op == "get_attr":
                    copy.target = f"{before.name}_{node.target}"
                    setattr(module, copy.target, operator.attrgetter(node.target)(traced))
    return added, list(results)


def _replace(node: Node, value: Any) -> None:
    """Replace a node by the node, tuple or constant that has its value."""
    if isinstance(value, tuple | list):
        for user in list(node.users):
            assert user.target is operator.getitem
            index = user.args[1]
            assert isinstance(index, int)
            _replace(user, value[index])
    elif isinstance(value, Node):
        node.replace_all_uses_with(value)
    if not node.users:
        node.graph.erase_node(node)


def _in_order(result: Tensor, strides: Sequence[Any]) -> Tensor:
    """Return a result with its dimensions in the memory order that torch has announced."""
    hints = [each if isinstance(each, int) else each.node.hint for each in strides]
    order = sorted(range(result.dim()), key=lambda dim: -hints[dim])
    back = sorted(range(result.dim()), key=order.__getitem__)
    return result.permute(order).contiguous().permute(back)


def _scatter(shape: Sequence[int], indices: Sequence[Tensor], values: Tensor) -> Tensor:
    """Return the gradient of an indexed tensor."""
    zeros = torch.zeros(shape, dtype=values.dtype, device=values.device)
    return zeros.index_put(tuple(indices), values, accumulate=True)


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


def _is_identity(score_mod: Callable[..., Tensor]) -> bool:
    """Return True if a traced score modification returns the scores."""
    if not isinstance(score_mod, GraphModule):
        return False
    *_, output = score_mod.graph.nodes
    return tree_leaves(output.args[0]) == [next(iter(score_mod.graph.nodes))]


def _visible(
    query: Tensor, key: Tensor, block_mask: Sequence[Any], of_mask: Sequence[Any]
) -> Tensor:
    """Return the mask of all pairs, [B, H, L, S]."""
    from torch.nn.attention.flex_attention import _vmap_for_bhqkv

    mask = _vmap_for_bhqkv(block_mask[-1], prefix=(), suffix=(None,) * len(of_mask))
    sizes = (*query.shape[:-1], key.shape[-2])
    visible: Tensor = mask(*(torch.arange(n, device=query.device) for n in sizes), *of_mask)
    return visible


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
        self.places = [torch.arange(n, device=query.device) for n in self.raw.shape]
        score = _vmap_for_bhqkv(score_mod, prefix=(0,), suffix=(None,) * len(of_score))
        modified = score(self.raw, *self.places, *of_score).to(dtype)
        self.visible = _visible(query, key, block_mask, of_mask)
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
    if _is_identity(score_mod) and _has_fused(query, key, value):
        visible = _visible(query, key, block_mask, of_mask)
        fused = _fused(query, key, value, 0.0, False, attn_mask=visible, scale=scale)
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
    if grad_logsumexp is None and _is_identity(score_mod) and _has_fused(query, key, value):
        visible = _visible(query, key, block_mask, of_mask)
        grads = _fused_backward(
            *(grad_out, query, key, value, out, logsumexp * _LN2, 0.0, False),
            attn_mask=visible,
            scale=scale,
        )
        return (*grads, ())
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


_FORMULAS: dict[Any, Callable[..., Any]] = {
    flex_attention: _forward,
    flex_attention_backward: _backward,
}
_SCATTER = torch.ops.flex_lib.zeros_and_scatter.default
"""Operator of torch for the gradient of ``captured[index]``."""
