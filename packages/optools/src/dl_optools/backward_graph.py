"""The part of autograd's graph that one call made, and the gradients that pass it.

Gradients are read at the nodes themselves, so nothing of the program changes: an input's gradient
is the sum of what the call's nodes send along the edges to it. (That is what the chain rule adds to
the input's gradient for this call; other uses of the same tensor add theirs elsewhere.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.autograd.graph import GradientEdge, Node, get_gradient_edge

from dl_optools.call import own_work

Edge = tuple[Node, int]


def next_sequence_number() -> int:
    """Nodes that this thread makes from now on have numbers not below this one."""
    return int(torch._C._autograd._get_sequence_nr())


def _edge(tensor: torch.Tensor) -> Edge:
    edge: GradientEdge = get_gradient_edge(tensor)
    return edge.node, edge.output_nr


def nodes_since(outputs: Iterable[torch.Tensor], number: int) -> list[Node]:
    """The nodes behind ``outputs`` that are not older than :func:`next_sequence_number` gave."""
    found: dict[Node, None] = {}
    waiting = [x.grad_fn for x in outputs if x.grad_fn is not None]
    while waiting:
        node = waiting.pop()
        # Accumulators count as younger than everything, and nothing is behind them.
        if node in found or not node.next_functions or node._sequence_nr() < number:
            continue
        found[node] = None
        waiting.extend(next_node for next_node, _ in node.next_functions if next_node is not None)
    return list(found)


@dataclass
class Gradients:
    """What passed one call in one backward; None where nothing did."""

    outputs: list[torch.Tensor | None]
    """Of each differentiable output, as it came in."""
    inputs: list[torch.Tensor | None]
    """Of each input, as this call adds to it."""


@dataclass
class _Pass:
    """One run of backward through the call's nodes."""

    outputs: dict[Edge, torch.Tensor] = field(default_factory=dict)
    inputs: dict[Edge, torch.Tensor] = field(default_factory=dict)
    waiting: set[Node] = field(default_factory=set)


class GradientWatch:
    """Reports the gradients of one call's outputs and inputs, once for each backward.

    Make it before the call, with its tensors; :meth:`attach` it after, to the outputs.

    :param inputs: tensors among the arguments.
    :param report: called in the thread of backward, as soon as all of the call's nodes have run, or
        at the end of a backward that needs only some of them.
    """

    def __init__(self, inputs: Sequence[torch.Tensor], report: Callable[[Gradients], None]) -> None:
        # No tensor is kept: memory is freed as without tools.
        self.positions = [
            at for at, x in enumerate(inputs) if torch.is_grad_enabled() and x.requires_grad
        ]
        self._edges = [_edge(inputs[at]) for at in self.positions]
        self._count = len(inputs)
        self._started = next_sequence_number()
        self._report = report
        self._handles: list[Any] = []
        self._output_edges: list[Edge | None] = []
        self._senders: set[Node] = set()
        self._pass: _Pass | None = None

    def attach(self, outputs: Sequence[torch.Tensor]) -> bool:
        """Begin to watch; False if no gradient can pass."""
        nodes = nodes_since(outputs, self._started)
        ours = set(nodes)
        wanted = set(self._edges)
        self._output_edges = [
            (x.grad_fn, x.output_nr) if x.grad_fn is not None and x.grad_fn in ours else None
            for x in outputs
        ]
        ends: dict[Node, list[int]] = {}
        for edge in self._output_edges:
            if edge is not None:
                ends.setdefault(edge[0], []).append(edge[1])
        for node, numbers in ends.items():
            self._handles.append(node.register_prehook(self._on_outputs(node, numbers)))
        for node in nodes:
            hits = [i for i, edge in enumerate(node.next_functions) if edge in wanted]
            if hits:
                self._senders.add(node)
                self._handles.append(node.register_hook(self._on_inputs(node, hits)))
        return bool(self._handles)

    def detach(self) -> None:
        """Take every hook off the graph."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def _current(self) -> _Pass:
        if self._pass is None:
            begun = self._pass = _Pass(waiting=set(self._senders))
            # Where backward does not come to all nodes, its end tells.
            torch.autograd.Variable._execution_engine.queue_callback(lambda: self._finish(begun))
        return self._pass

    def _on_outputs(self, node: Node, numbers: list[int]) -> Callable[..., None]:
        def hook(gradients: tuple[torch.Tensor | None, ...]) -> None:
            seen = self._current()
            for number in numbers:
                gradient = gradients[number]
                if gradient is not None:
                    seen.outputs[node, number] = gradient

        return hook

    def _on_inputs(self, node: Node, hits: list[int]) -> Callable[..., None]:
        def hook(sent: tuple[torch.Tensor | None, ...], _: tuple[torch.Tensor | None, ...]) -> None:
            seen = self._current()
            for at in hits:
                gradient = sent[at]
                if gradient is None:
                    continue
                edge = node.next_functions[at]
                known = seen.inputs.get(edge)
                with own_work():
                    seen.inputs[edge] = gradient if known is None else known + gradient
            seen.waiting.discard(node)
            if not seen.waiting:
                self._finish(seen)

        return hook

    def _finish(self, seen: _Pass) -> None:
        if self._pass is not seen:
            return
        self._pass = None
        inputs: list[torch.Tensor | None] = [None] * self._count
        for at, edge in zip(self.positions, self._edges, strict=True):
            inputs[at] = seen.inputs.get(edge)
        outputs = [None if edge is None else seen.outputs.get(edge) for edge in self._output_edges]
        with own_work():
            self._report(Gradients(outputs, inputs))
