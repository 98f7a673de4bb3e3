"""Record of one run of a graph, as steps on values in slots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from dl_dicp.recording.calls import Call
from dl_dicp.recording.memory import Block, Ref


@dataclass(frozen=True)
class Opaque:
    """Value outside contract graphs: a CPU tensor or another object.

    :ivar slot: its slot among the values of a run; -1 if it is always ``constant``.
    :ivar unread: whether the value is never read, so that it may change between runs.
    """

    slot: int
    constant: Any = None
    unread: bool = False


@dataclass
class Lowered:
    """Operator that consists of contract calls."""

    name: str
    calls: list[Call]


@dataclass
class Host:
    """Operator that runs eagerly between graphs.

    :ivar args: arguments, with :class:`Ref` and :class:`Opaque` in place of values, as in
        ``kwargs``.
    :ivar slots: slots of its results, in the order of their leaves; -1 for scalars and for tensors
        that share the memory of an argument.
    :ivar results: its results in the same order; None for results that are not device tensors.
    :ivar constants: its results if they are the same in every run.
    """

    name: str
    reason: str
    target: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    slots: list[int]
    results: list[Ref | None]
    constants: list[Any] | None = None

    def mutates(self) -> bool:
        """Return True if the operator mutates an argument."""
        schema = getattr(self.target, "_schema", None)
        return schema is None or bool(schema.is_mutable)

    def unchanging(self, changed: set[Block]) -> dict[int, Any] | None:
        """Return the results by slot if they are the same in every run and not mutated, else
        None."""
        if self.constants is None or any(
            r is not None and r.block in changed for r in self.results
        ):
            return None
        return dict(zip(self.slots, self.constants, strict=True))


@dataclass
class Trace:
    """Record of one run of a graph.

    :ivar arguments: descriptions of the arguments, in order.
    :ivar slots: number of values of a run: arguments, constants, and results of steps.
    :ivar constants: values that are the same in every run, by slot.
    :ivar output: the results, with :class:`Ref` and :class:`Opaque` in place of values.
    :ivar repeated: results that are the same object as an earlier result in eager mode: positions
        in ``output``, each with the position of the earlier result.
    :ivar nodes: flat lists of the results of each node, by name; empty after folding.
    """

    device: torch.device
    arguments: list[Ref | Opaque]
    slots: int = 0
    constants: dict[int, Any] = field(default_factory=dict)
    steps: list[Lowered | Host] = field(default_factory=list)
    output: Any = None
    repeated: dict[int, int] = field(default_factory=dict)
    nodes: dict[str, list[Any]] = field(default_factory=dict)

    def next_slot(self) -> int:
        """Return a new slot."""
        self.slots += 1
        return self.slots - 1

    def fold(self) -> None:
        """Replace host calls with constant results by constants, unless the results are mutated or
        returned to the caller."""
        changed = {ref.block for ref in refs_in(self.output) if isinstance(ref, Ref)}
        for step in self.steps:
            if isinstance(step, Lowered):
                changed |= {ref.block for call in step.calls for ref, w in call.uses() if w}
            elif step.mutates():
                refs = refs_in((step.args, step.kwargs))
                changed |= {ref.block for ref in refs if isinstance(ref, Ref)}
        kept: list[Lowered | Host] = []
        for step in self.steps:
            constants = None if isinstance(step, Lowered) else step.unchanging(changed)
            if constants is None:
                kept.append(step)
            else:
                self.constants |= constants
        self.steps = kept
        self.nodes.clear()


def refs_in(tree: Any) -> Iterator[Ref | Opaque]:
    """Iterate over the refs and opaque values in a tree of arguments or results."""
    leaves, _ = tree_flatten(tree, is_leaf=lambda x: isinstance(x, Ref | Opaque))
    return (x for x in leaves if isinstance(x, Ref | Opaque))


def name_of(target: Any) -> str:
    """Return the name of an operator for messages and records."""
    if isinstance(target, torch._ops.OpOverload):
        return str(target.name().removeprefix("aten::"))
    return str(getattr(target, "__name__", target))
