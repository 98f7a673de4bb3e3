"""Re-inplacing: undo copies that functionalization has introduced for writes to arguments.

A functional graph creates a new tensor for each write and copies it into the argument at the end: a
key-value cache would be copied twice for each new token. If the old tensor is not used after the
write, the graph can write to the argument in place.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

aten = torch.ops.aten

_IN_PLACE: dict[Any, Any] = {
    aten.index_copy.default: aten.index_copy_.default,
    aten.index_put.default: aten.index_put_.default,
    aten.index_add.default: aten.index_add_.default,
    aten.scatter.src: aten.scatter_.src,
    aten.scatter.value: aten.scatter_.value,
    aten.masked_fill.Scalar: aten.masked_fill_.Scalar,
}


def write_in_place(module: GraphModule) -> int:
    """Make writes to arguments in-place; return the number of changed writes."""
    order = {node: place for place, node in enumerate(module.graph.nodes)}
    done = 0
    for copy in list(module.graph.nodes):
        if copy.target is not aten.copy_.default or copy.kwargs or len(copy.args) != 2:
            continue
        argument, made = copy.args
        if _is_write_to(made, argument) and _unseen_after(argument, made, copy, order):
            made.target = _IN_PLACE[made.target]
            copy.replace_all_uses_with(argument)
            module.graph.erase_node(copy)
            done += 1
    if done:
        module.recompile()
    return done


def _is_write_to(made: Any, argument: Any) -> bool:
    return (
        isinstance(made, Node)
        and isinstance(argument, Node)
        and argument.op == "placeholder"
        and made.target in _IN_PLACE
        and made.args[0] is argument
    )


def _unseen_after(argument: Node, made: Node, copy: Node, order: dict[Node, int]) -> bool:
    """Return True if no node that shares the argument's memory, except the copy, is used later."""
    waiting = [argument]
    seen = {argument}
    while waiting:
        for user in waiting.pop().users:
            if user in (made, copy):
                continue
            if order[user] > order[made]:
                return False
            if user not in seen and _may_share(user):
                seen.add(user)
                waiting.append(user)
    return True


def _may_share(node: Node) -> bool:
    """Return True if a result may share the memory of an argument."""
    schema = getattr(node.target, "_schema", None)
    return schema is None or any(r.alias_info is not None for r in schema.returns)
