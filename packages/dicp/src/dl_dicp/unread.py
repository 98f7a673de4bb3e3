"""Arguments that dl-core never looks at, and results that nobody does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from torch.fx import Node

from .memory import Ref
from .trace import Opaque, name_of, refs_in

_UNREAD = {
    # Where dropout's seed and offset would be; dl-core draws a mask instead.
    "_scaled_dot_product_fused_attention_overrideable_backward": ("philox_seed", "philox_offset"),
}
"""Arguments that dl-core never looks at: a tensor of the host may stand there."""


_MEANINGLESS = {
    "_scaled_dot_product_fused_attention_overrideable": ("philox_seed", "philox_offset"),
}
"""Results that dl-core only fills the place of, and nobody reads."""


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
    """What stands in the place of the arguments that the operator looks at."""
    unread = _UNREAD.get(name_of(node.target), ())
    if not unread:
        return refs_in((args, kwargs))
    names = [p.name for p in node.target._schema.arguments]  # type: ignore[union-attr]
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    return refs_in([value for name, value in given.items() if name not in unread])
