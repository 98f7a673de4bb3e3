"""Removal of identity calls from a Dynamo graph."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

_DROPOUTS = (torch.nn.functional.dropout, torch.dropout)


def return_arguments(module: GraphModule) -> int:
    """Replace dropout that drops nothing with its argument; return the number of replaced calls.

    Eager mode returns the argument, and a later write to the result is a write to the argument.
    AOTAutograd's decomposition returns a copy instead (``torch._decomp``), so that such a write
    would be lost.
    """
    idle = [node for node in module.graph.nodes if _is_idle_dropout(node)]
    for node in idle:
        node.replace_all_uses_with(_argument(node, 0, "input", None))
        module.graph.erase_node(node)
    if idle:
        module.recompile()
    return len(idle)


def _is_idle_dropout(node: Node) -> bool:
    if node.op != "call_function" or node.target not in _DROPOUTS:
        return False
    functional = node.target is torch.nn.functional.dropout
    rate = _argument(node, 1, "p", 0.5)
    training = _argument(node, 2, "training" if functional else "train", True)
    valid = isinstance(rate, int | float) and 0 <= rate <= 1
    return valid and (rate == 0 or training is False)


def _argument(node: Node, position: int, name: str, default: Any) -> Any:
    if position < len(node.args):
        return node.args[position]
    return node.kwargs.get(name, default)
