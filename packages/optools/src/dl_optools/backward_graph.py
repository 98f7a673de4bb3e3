"""The part of autograd's graph that one call created, and the gradients that flow through it.

Gradients are read at the nodes themselves, so the program does not change: the gradient of an input
is the sum of the gradients that the call's nodes send to it along their edges. (By the chain rule,
that is this call's contribution; other uses of the same tensor contribute elsewhere.)
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import torch
from torch.autograd.graph import Node

from dl_optools.call import own_work
from dl_optools.failures import warn_failure
from dl_optools.tensors import grad_fn_of
from dl_optools.windows import Window

Gradient = torch.Tensor | None
Slot = tuple[int, Window | None]
"""A tensor's position, and a function that extracts its gradient from the gradient at an edge."""

_IN_PLACE_ON_VIEW = "torch::autograd::CopySlices"
"""Node of a base whose view was written to; its first edge leads to the base's previous node."""


def node_metadata(node: Node) -> dict[str, Any]:
    """Return a node's metadata dictionary, which lives as long as the node."""
    return cast(dict[str, Any], node.metadata)


def next_sequence_number() -> int:
    """Return the lowest sequence number that nodes created by this thread will have from now on."""
    return int(torch._C._autograd._get_sequence_nr())


def nodes_behind(tensors: Iterable[torch.Tensor]) -> set[Node]:
    """Return the nodes that created tensors, and the nodes that created the bases of views."""
    found = set()
    for tensor in tensors:
        base = tensor._base
        for made in (grad_fn_of(tensor), None if base is None else grad_fn_of(base)):
            if made is not None:
                found.add(made)
    return found


def nodes_since(
    outputs: Iterable[torch.Tensor], number: int, older: Collection[Node] = ()
) -> list[Node]:
    """Return the nodes behind ``outputs`` created since :func:`next_sequence_number` was called.

    :param older: nodes that are known to be older; each thread has its own sequence numbers.
    """
    found: dict[Node, None] = {}
    waiting: list[Node | None] = [grad_fn_of(x) for x in outputs]
    while waiting:
        node = waiting.pop()
        if node is None or node in found or node in older:
            continue
        # Accumulators count as younger than every node, and no node is behind them.
        if not node.next_functions or node._sequence_nr() < number:
            continue
        found[node] = None
        waiting.extend(next_node for next_node, _ in node.next_functions)
    return list(found)


@dataclass
class Gradients:
    """Gradients of one call in one backward pass; None where none arrived.

    Autograd reuses the memory: copy the values to keep them beyond the report.
    """

    outputs: list[Gradient]
    """Gradient of each output, as it arrived."""
    inputs: list[Gradient]
    """Contribution of this call to the gradient of each input."""


@dataclass
class _Pass:
    """One backward pass through the call's nodes."""

    waiting: set[int]
    outputs: dict[int, torch.Tensor] = field(default_factory=dict)
    inputs: dict[int, torch.Tensor] = field(default_factory=dict)


class _Before:
    """Destinations of the inputs' gradients before the call."""

    def __init__(self, inputs: Sequence[torch.Tensor]) -> None:
        self.edges: dict[tuple[Node, int], list[Slot]] = {}
        self.leaves: dict[int, list[Slot]] = {}
        self.bases: dict[tuple[Node, int], list[Slot]] = {}
        self.nodes = nodes_behind(inputs)
        self.number = next_sequence_number()
        for position, tensor in enumerate(inputs):
            if not tensor.requires_grad:
                continue
            slot = (position, None)
            node = grad_fn_of(tensor)
            if node is None:
                self.leaves.setdefault(id(tensor), []).append(slot)
                continue
            self.edges.setdefault((node, tensor.output_nr), []).append(slot)
            base = tensor._base
            behind = None if base is None else grad_fn_of(base)
            window = Window.of(tensor)
            if base is not None and window is not None and behind is not None:
                edge = behind, base.output_nr
                self.bases.setdefault(edge, []).append((position, window))

    def slots(self, node: Node) -> list[tuple[int, list[Slot]]]:
        """Return the inputs that each gradient sent by a node belongs to."""
        found = []
        for at, (target, number) in enumerate(node.next_functions):
            if target is None:
                continue
            slots = self.edges.get((target, number), [])
            if not target.next_functions:
                variable = getattr(target, "variable", None)
                slots = slots or self.leaves.get(id(variable), [])
            if at == 0 and node.name() == _IN_PLACE_ON_VIEW:
                # The view that was written to, or the whole tensor that a function wrote a part of,
                # whichever comes first among the arguments.
                slots = sorted([*slots, *self.bases.get((target, number), [])], key=lambda x: x[0])
                slots = slots[:1]
            if slots:
                found.append((at, slots))
        return found


class GradientWatch:
    """Reports the gradients of one call's outputs and inputs, once for each backward pass.

    Create it before the call with the call's input tensors; :meth:`attach` it to the outputs after
    the call. It keeps no tensor and no node alive.

    :param inputs: tensors among the arguments.
    :param report: called in the thread of backward as soon as all of the call's nodes have run, or
        at the end of a backward pass that does not need all nodes. It must not keep alive the
        tensors of the call, to which the graph belongs.
    """

    def __init__(self, inputs: Sequence[torch.Tensor], report: Callable[[Gradients], None]) -> None:
        self._inputs = len(inputs)
        self._outputs = 0
        with own_work():
            self._before: _Before | None = _Before(inputs) if torch.is_grad_enabled() else None
        self._report = report
        self._handles: list[Any] = []
        self._senders: frozenset[int] = frozenset()
        self._passes: dict[int, _Pass] = {}
        self._done = -1

    def attach(self, outputs: Sequence[torch.Tensor]) -> bool:
        """Attach hooks; return False if no gradient can pass.

        :param outputs: what the call returned, and the arguments that it wrote to.
        """
        before, self._before = self._before, None
        self._outputs = len(outputs)
        if before is None:
            return False
        with own_work():
            nodes = nodes_since(outputs, before.number, before.nodes)
            for node, ends in _ends(outputs, set(nodes)).items():
                self._handles.append(node.register_prehook(self._on_outputs(ends)))
            senders = []
            for sender, node in enumerate(nodes):
                slots = before.slots(node)
                if slots:
                    senders.append(sender)
                    self._handles.append(node.register_hook(self._on_inputs(sender, slots)))
            self._senders = frozenset(senders)
        return bool(self._handles)

    def detach(self) -> None:
        """Remove all hooks from the graph."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._passes.clear()

    def _current(self) -> _Pass | None:
        task = torch._C._current_graph_task_id()
        if task == self._done:
            return None
        known = self._passes.get(task)
        if known is None:
            known = self._passes[task] = _Pass(waiting=set(self._senders))
            # If the pass does not reach all nodes, the end of the pass triggers the report.
            torch.autograd.Variable._execution_engine.queue_callback(partial(self._finish, task))
        return known

    # The hooks below store positions only: a reference to a node would create a cycle.

    def _on_outputs(self, ends: list[tuple[int, Slot]]) -> Callable[..., None]:
        def hook(gradients: tuple[Gradient, ...]) -> None:
            seen = self._current()
            if seen is None:
                return
            with own_work():
                for number, (position, window) in ends:
                    gradient = gradients[number]
                    if gradient is None:
                        continue
                    if window is not None:
                        # The gradient through the view, plus the later gradient through its base.
                        seen.outputs[position] = window.read(_plain(gradient))
                    else:
                        seen.outputs.setdefault(position, _plain(gradient))

        return hook

    def _on_inputs(self, sender: int, sent: list[tuple[int, list[Slot]]]) -> Callable[..., None]:
        def hook(gradients: tuple[Gradient, ...], _: tuple[Gradient, ...]) -> None:
            seen = self._current()
            if seen is None:
                return
            with own_work():
                for at, slots in sent:
                    gradient = gradients[at]
                    if gradient is None:
                        continue
                    for position, window in slots:
                        part = _plain(gradient)
                        part = part if window is None else window.read(part)
                        known = seen.inputs.get(position)
                        seen.inputs[position] = part if known is None else known + part
            seen.waiting.discard(sender)
            if not seen.waiting:
                self._finish(torch._C._current_graph_task_id())

        return hook

    def _finish(self, task: int) -> None:
        seen = self._passes.pop(task, None)
        if seen is None:
            return
        self._done = task
        found = Gradients(
            [seen.outputs.get(position) for position in range(self._outputs)],
            [seen.inputs.get(position) for position in range(self._inputs)],
        )
        with own_work():
            try:
                self._report(found)
            except Exception as error:  # noqa: BLE001 - a failing tool does not stop backward
                warn_failure("dl-optools", "the gradients of a call", error)


def _plain(gradient: torch.Tensor) -> torch.Tensor:
    # Returns the same object where possible: autograd then sees another reference, and does not
    # make it the `grad` of a leaf, which later gradients are accumulated into.
    return gradient.detach() if gradient.requires_grad else gradient


def _ends(
    outputs: Sequence[torch.Tensor], ours: Collection[Node]
) -> dict[Node, list[tuple[int, Slot]]]:
    """Return node, output number and slot for each gradient that enters at an output."""
    found: dict[Node, list[tuple[int, Slot]]] = {}
    for position, tensor in enumerate(outputs):
        node = grad_fn_of(tensor)
        if node in ours:
            slot: tuple[int, Slot] = (tensor.output_nr, (position, None))
            found.setdefault(cast(Node, node), []).append(slot)
        base = tensor._base
        behind = None if base is None else grad_fn_of(base)
        if base is not None and behind in ours:
            window = Window.of(tensor)
            if window is not None:
                slot = (base.output_nr, (position, window))
                found.setdefault(cast(Node, behind), []).append(slot)
    return found


class Watches:
    """Watches of one tool that are still attached to graphs."""

    def __init__(self) -> None:
        self._alive: weakref.WeakSet[GradientWatch] = weakref.WeakSet()

    def add(self, watch: GradientWatch) -> None:
        self._alive.add(watch)

    def detach(self) -> None:
        """Remove all hooks, so that remaining graphs behave as without the tool."""
        for watch in list(self._alive):
            watch.detach()
        self._alive.clear()
