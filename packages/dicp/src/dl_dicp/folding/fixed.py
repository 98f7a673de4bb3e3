"""Values of a graph that depend only on frozen weights."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from math import prod
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_leaves

MOST_GROWTH = 2
"""Maximum size of a folded value relative to its inputs: bfloat16 may become float32."""

SMALL = 1 << 24
"""Size in bytes up to which any value may be folded, such as a mask computed from arange."""


def frozen_places(module: GraphModule, written: set[int]) -> list[int]:
    """Return the indices of parameters and buffers that the graph does not mutate.

    :param written: indices of the arguments that it writes to.
    """
    from torch._guards import TracingContext

    context = TracingContext.try_get()
    known = getattr(context, "fw_metadata", None)
    if known is None:
        return []
    given = [node for node in module.graph.nodes if node.op == "placeholder"]
    return [
        place
        for place in known.static_input_indices
        if place not in written
        and place < len(given)
        and isinstance(given[place].meta.get("val"), torch.Tensor)
    ]


class FixedValues:
    """Nodes whose values are constant as long as the weights are.

    :ivar sources: for each such node, the placeholders on which it depends.
    """

    def __init__(self, module: GraphModule, places: Iterable[int]) -> None:
        given = [node for node in module.graph.nodes if node.op == "placeholder"]
        self.sources: dict[Node, frozenset[Node]] = {
            given[place]: frozenset((given[place],)) for place in places
        }
        for node in module.graph.nodes:
            if node.op == "call_function" and self._follows(node):
                found = [self.sources[each] for each in node.all_input_nodes]
                self.sources[node] = frozenset().union(*found)

    def __contains__(self, node: Node) -> bool:
        return node in self.sources

    def _follows(self, node: Node) -> bool:
        known = node.target is operator.getitem or is_repeatable(node.target)
        return (
            known
            and all(each in self.sources for each in node.all_input_nodes)
            and has_fixed_shape(node)
        )

    def is_view_of_weight(self, node: Node) -> bool:
        """Return True if a node is a weight or a view of one, so that nothing is computed."""
        while node.op != "placeholder":
            if not is_view(node):
                return False
            (node,) = node.all_input_nodes
        return True

    def may_be_kept(self, node: Node) -> bool:
        """Return True if a node's value is not much larger than the weights that it depends on."""
        value = node.meta["val"]
        if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
            return False
        whole = sum(_bytes(each.meta["val"]) for each in self.sources[node])
        return _bytes(value) <= MOST_GROWTH * whole + SMALL


def is_repeatable(target: Any) -> bool:
    """Return True if an operator is deterministic and mutates nothing."""
    return (
        isinstance(target, torch._ops.OpOverload)
        and not target._schema.is_mutable
        and torch.Tag.nondeterministic_seeded not in target.tags
    )


def is_view(node: Node) -> bool:
    """Return True if results may share the memory of the only argument."""
    if node.target is operator.getitem:
        return is_view(node.all_input_nodes[0])
    return (
        isinstance(node.target, torch._ops.OpOverload)
        and any(each.alias_info is not None for each in node.target._schema.returns)
        and len(node.all_input_nodes) == 1
    )


def has_fixed_shape(node: Node) -> bool:
    """Return True if all results are tensors of constant sizes."""
    leaves = tree_leaves(node.meta.get("val"))
    return bool(leaves) and all(
        isinstance(leaf, torch.Tensor)
        and all(isinstance(size, int) for size in (*leaf.shape, *leaf.stride()))
        for leaf in leaves
    )


def _bytes(value: torch.Tensor) -> int:
    return prod(value.shape) * value.element_size()
