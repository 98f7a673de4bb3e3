"""FlexAttention as operators of a graph.

AOTAutograd leaves ``flex_attention`` and its backward as higher-order operators with subgraphs for
the modifications of scores. Their eager forms copy scalars from the host, which a contract graph
cannot. Here they are replaced by operators without such copies, those of :mod:`.flex_formulas`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch._dynamo._trace_wrapped_higher_order_op  # defines `flex_lib::zeros_and_scatter`
from torch import Tensor
from torch._guards import detect_fake_mode
from torch._higher_order_ops.flex_attention import flex_attention
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from dl_dicp.recording.flex_formulas import FORMULAS

_SCATTER = torch.ops.flex_lib.zeros_and_scatter.default
"""Operator of torch for the gradient of ``captured[index]``."""


def expand_attention(module: GraphModule, decompositions: dict[Any, Callable[..., Any]]) -> int:
    """Replace the attention operators of a graph; return their number.

    An operator that cannot be traced stays, and becomes a host call.
    """
    found = [node for node in module.graph.nodes if node.target in FORMULAS]
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
        flat, found = tree_flatten(FORMULAS[node.target](*args, **kwargs))
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
