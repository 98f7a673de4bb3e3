"""Arguments that dl-core never reads, and results that the caller never reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from dl_dicp.recording.memory import Ref
from dl_dicp.recording.trace import Opaque, name_of, refs_in

_UNREAD = {
    # Seed and offset of dropout: dl-core draws a mask instead of using them.
    "_scaled_dot_product_fused_attention_overrideable_backward": ("philox_seed", "philox_offset"),
}
"""Arguments that dl-core never reads, which may therefore be host tensors."""


_MEANINGLESS = {
    "_scaled_dot_product_fused_attention_overrideable": ("philox_seed", "philox_offset"),
}
"""Results that dl-core only writes, and that the caller does not read."""


def with_unread(node: Node, described: Any) -> Any:
    names = _MEANINGLESS.get(name_of(node.target), ())
    if not names:
        return described
    returns = node.target._schema.returns  # type: ignore[union-attr]
    return tuple(
        replace(each, unread=True) if result.name in names else each
        for each, result in zip(described, returns, strict=True)
    )


def read_by(node: Node, args: Sequence[Any], kwargs: dict[str, Any]) -> Iterator[Ref | Opaque]:
    """Iterate over the refs and opaque values among the arguments that the operator reads."""
    unread = _UNREAD.get(name_of(node.target), ())
    if not unread:
        return refs_in((args, kwargs))
    names = [p.name for p in node.target._schema.arguments]  # type: ignore[union-attr]
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    return refs_in([value for name, value in given.items() if name not in unread])


def unread_arguments(module: GraphModule) -> set[int]:
    """Return the indices of arguments that are not read, which may change in each run."""
    given = [node for node in module.graph.nodes if node.op == "placeholder"]
    stands: dict[Node, Any] = {node: Opaque(place) for place, node in enumerate(given)}
    read: set[int] = set()
    for node in module.graph.nodes:
        args, kwargs = map_arg((node.args, node.kwargs), lambda each: stands.get(each))
        read |= {x.slot for x in read_by(node, args, kwargs) if isinstance(x, Opaque)}
    return set(range(len(given))) - read


def passed_arguments(module: GraphModule) -> set[int]:
    """Return the indices of arguments that no operator reads: results may contain them."""
    given = [node for node in module.graph.nodes if node.op == "placeholder"]
    return {i for i, node in enumerate(given) if all(user.op == "output" for user in node.users)}
