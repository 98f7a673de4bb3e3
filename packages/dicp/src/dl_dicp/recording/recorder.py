"""Recorder: runs an FX graph once under dl-core's recorder, which logs the vendor calls.

The run is eager, operator by operator, and the caller gets its results. So the first call of a
graph is always correct.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from dl_core import _C
from dl_dicp.errors import HostCallError, NotCompiledError
from dl_dicp.program.refusals import why_refused
from dl_dicp.recording.calls import GENERATOR, lower, opaque_operators
from dl_dicp.recording.memory import (
    Addresses,
    Block,
    Ref,
    block_of_result,
    is_plain,
    ref_to_argument,
    view_of,
)
from dl_dicp.recording.moved_scalars import scalars_on_device
from dl_dicp.recording.tags import is_random, varies
from dl_dicp.recording.trace import Host, Lowered, Opaque, Trace, name_of, refs_in
from dl_dicp.recording.unread import read_by, with_unread


class Recorder:
    """Recorder of one run of a graph, used once by one thread.

    :param numbers: indices of host arguments that are the same in each run.
    :param made_up: whether integers among the arguments are synthetic, so that no operator may
        read them on the CPU.
    """

    def __init__(
        self,
        module: GraphModule,
        device: torch.device,
        numbers: Collection[int] = (),
        *,
        made_up: bool = False,
    ) -> None:
        self._module = module
        self._device = device
        self._numbers = numbers
        self._made_up = made_up
        self._refs: dict[Node, Any] = {}
        self._values: dict[Node, Any] = {}
        self._trace = Trace(device, [])

    def run(self, arguments: Sequence[Any]) -> tuple[Any, Trace | NotCompiledError]:
        """Return the results of an eager run, and its unfolded trace or the reason why it has
        none."""
        failure: NotCompiledError | None = None
        waiting = iter(arguments)
        result: Any = None
        last = _last_uses(self._module)
        constants = self._take_constants(len(arguments))
        _C.start_recording(opaque_operators(), self._made_up)
        try:
            for node in self._module.graph.nodes:
                if node.op == "placeholder":
                    self._place(node, next(waiting))
                elif node.op == "get_attr":
                    self._values[node], self._refs[node] = constants[node]
                elif node.op == "output":
                    result = self._look_up(node.args[0], self._values)
                    if failure is None:
                        self._trace.output = self._look_up(node.args[0], self._refs)
                        self._trace.repeated = _repeated(tree_flatten(result)[0])
                else:
                    failure = self._call(node, failure)
                for dead in last.get(node, ()):
                    self._values.pop(dead, None)
        finally:
            _C.stop_recording()
        self._trace.nodes = {
            node.name: tree_flatten(self._refs[node])[0]
            for node in self._module.graph.nodes
            if node.op == "call_function" and node in self._refs
        }
        if failure is not None:
            return result, failure
        return result, self._trace

    def _take_constants(self, count: int) -> dict[Node, tuple[Any, Any]]:
        """Return the attributes of the module, whose slots follow those of the arguments."""
        self._trace.slots = count
        found = {}
        for node in self._module.graph.nodes:
            if node.op == "get_attr":
                value = operator.attrgetter(node.target)(self._module)
                found[node] = (value, self._constant(value))
        return found

    def _constant(self, value: Any) -> Ref | Opaque:
        if not isinstance(value, torch.Tensor):
            return Opaque(-1, value)
        if not is_plain(value, self._device):
            return Opaque(-1, value)
        slot = self._trace.next_slot()
        self._trace.constants[slot] = value
        return ref_to_argument(value, slot)

    def _place(self, node: Node, value: Any) -> None:
        slot = len(self._trace.arguments)
        if is_plain(value, self._device):
            ref: Ref | Opaque = ref_to_argument(value, slot)
        elif isinstance(value, torch.Tensor):
            ref = Opaque(-1, value.clone()) if slot in self._numbers else Opaque(slot)
        else:
            ref = Opaque(-1, value)  # guarded to have this value
        self._trace.arguments.append(ref)
        self._values[node], self._refs[node] = value, ref

    def _look_up(self, tree: Any, table: dict[Node, Any]) -> Any:
        return torch.fx.node.map_arg(tree, lambda node: table[node])

    def _call(self, node: Node, failure: NotCompiledError | None) -> NotCompiledError | None:
        target = node.target
        if node.op != "call_function" or not callable(target):
            raise NotCompiledError(f"{node.op} of {target}")
        args = self._look_up(node.args, self._values)
        kwargs = self._look_up(node.kwargs, self._values)
        _C.take_recorded()
        value = self._values[node] = target(*args, **kwargs)
        events = _C.take_recorded()
        if failure is not None:
            return failure
        try:
            self._describe(node, (args, kwargs), value, events)
        except NotCompiledError as reason:
            return NotCompiledError(f"{name_of(target)}: {reason}")
        return None

    def _describe(self, node: Node, given: Any, value: Any, events: list[Any]) -> None:
        target = node.target
        ref_args = self._look_up(node.args, self._refs)
        ref_kwargs = self._look_up(node.kwargs, self._refs)
        if target is operator.getitem:
            self._refs[node] = ref_args[0][ref_args[1]]
            return
        refs = list(refs_in((ref_args, ref_kwargs)))
        if varies(target, given):
            raise NotCompiledError("the sizes or scalars of its results depend on data")
        results = [x for x in tree_flatten(value)[0] if isinstance(x, torch.Tensor)]
        varying = any(
            isinstance(x, Opaque) and x.slot >= 0 for x in read_by(node, ref_args, ref_kwargs)
        )
        if not results and not events and not varying:
            self._refs[node] = tree_map(lambda x: Opaque(-1, x), value)
            return
        try:
            self._lower(node, given, value, events, refs, varying)
        except HostCallError as reason:
            if not self._lower_with_moved_scalars(node):
                self._host(node, str(reason), ref_args, ref_kwargs, given, value, refs)

    def _lower_with_moved_scalars(self, node: Node) -> bool:
        """Lower an operator with its scalars on the device; return False if that fails."""
        moved = scalars_on_device(node, self._values, self._refs, self._device)
        if not moved:
            return False
        before = self._trace.slots
        values = {**self._values, **moved}
        refs = {**self._refs, **{x: self._constant(number) for x, number in moved.items()}}
        given = self._look_up((node.args, node.kwargs), values)
        _C.take_recorded()
        value = node.target(*given[0], **given[1])  # type: ignore[operator]
        events = _C.take_recorded()
        described = list(refs_in(self._look_up((node.args, node.kwargs), refs)))
        try:
            self._lower(node, given, value, events, described, False)
        except HostCallError:
            for slot in range(before, self._trace.slots):
                del self._trace.constants[slot]
            self._trace.slots = before
            return False
        self._values[node] = value
        return True

    def _lower(
        self,
        node: Node,
        given: Any,
        value: Any,
        events: list[Any],
        refs: list[Ref | Opaque],
        varying: bool,
    ) -> None:
        if varying:
            raise HostCallError("it takes a tensor of the host")
        if any(isinstance(x, torch.Generator) for x in tree_flatten(given)[0]):
            raise HostCallError("it draws from a generator that was passed to it")
        owners = self._owners(given, refs)
        described = with_unread(node, tree_map(lambda x: self._described(x, owners), value))
        blocks = [block for group in owners.values() for block in group]
        calls = lower(events, Addresses(blocks))
        for call in calls:
            if (refusal := why_refused(call)) is not None:
                raise HostCallError(f"the contract does not allow this call: {refusal}")
        others = any(isinstance(x, Opaque) and x.constant is not None for x in refs_in(described))
        if others and any(GENERATOR in call.arguments.values() for call in calls):
            raise HostCallError("it returns a random value that is not a tensor of the device")
        self._refs[node] = described
        if calls:
            self._trace.steps.append(Lowered(name_of(node.target), calls))

    def _owners(self, given: Any, refs: list[Ref | Opaque]) -> dict[int, list[Block]]:
        """Return the blocks of an operator's arguments by the address of their storage."""
        tensors = [x for x in tree_flatten(given)[0] if is_plain(x, self._device)]
        plain = [x for x in refs if isinstance(x, Ref)]
        owners: dict[int, list[Block]] = {}
        for tensor, ref in zip(tensors, plain, strict=True):
            owners.setdefault(tensor.untyped_storage().data_ptr(), []).append(ref.block)
        return owners

    def _described(self, value: Any, owners: dict[int, list[Block]]) -> Ref | Opaque:
        """Return a result as a ref or a constant. Host scalars and tensors are the same in every
        run, because operators that read data from the device have already been rejected."""
        if isinstance(value, torch.Tensor) and value.device == self._device:
            if not is_plain(value, self._device):
                raise HostCallError("it returns a value that is not a dense tensor of the device")
            return self._result(value, owners)
        # The caller may get this tensor and write to it.
        return Opaque(-1, value.clone() if isinstance(value, torch.Tensor) else value)

    @staticmethod
    def _result(tensor: torch.Tensor, owners: dict[int, list[Block]]) -> Ref:
        storage = tensor.untyped_storage().data_ptr()
        if storage and storage in owners:
            first = tensor.data_ptr()
            holding = [b for b in owners[storage] if b.holds(first, 0)]
            return view_of((holding or owners[storage])[0], tensor)
        made = block_of_result(tensor)
        owners.setdefault(storage, []).append(made)
        return view_of(made, tensor)

    def _host(
        self,
        node: Node,
        reason: str,
        ref_args: Any,
        ref_kwargs: Any,
        given: Any,
        value: Any,
        refs: list[Ref | Opaque],
    ) -> None:
        storages = set(self._owners(given, refs))
        leaves, spec = tree_flatten(value)
        described: list[Any] = []
        slots: list[int] = []
        for leaf in leaves:
            slot = -1
            if not isinstance(leaf, torch.Tensor):
                if leaf is not None and any(isinstance(x, Ref) or x.slot >= 0 for x in refs):
                    raise NotCompiledError(f"it is a host call that returns a scalar: {reason}")
                described.append(Opaque(-1, leaf))
            elif not is_plain(leaf, self._device):
                slot = self._trace.next_slot()
                described.append(Opaque(slot))
            elif leaf.numel() and leaf.untyped_storage().data_ptr() in storages:
                described.append(self._result(leaf, self._owners(given, refs)))
            else:
                slot = self._trace.next_slot()
                described.append(ref_to_argument(leaf, slot))
            slots.append(slot)
        self._refs[node] = tree_unflatten(described, spec)
        constant = (
            all(isinstance(x, Opaque) and x.slot < 0 for x in refs)
            and not is_random(node.target)
            and all(is_plain(x, self._device) for x in leaves)
        )
        self._trace.steps.append(
            Host(
                name_of(node.target),
                reason,
                node.target,  # type: ignore[arg-type]
                ref_args,
                ref_kwargs,
                slots,
                [
                    x if isinstance(x, Ref) and slot >= 0 else None
                    for x, slot in zip(described, slots, strict=True)
                ],
                leaves if constant else None,
            )
        )


def _repeated(results: Sequence[Any]) -> dict[int, int]:
    """Return the positions of repeated tensors among the results, with their first position."""
    first: dict[int, int] = {}
    out = {}
    for place, value in enumerate(results):
        if isinstance(value, torch.Tensor):
            earlier = first.setdefault(id(value), place)
            if earlier != place:
                out[place] = earlier
    return out


def _last_uses(module: GraphModule) -> dict[Node, list[Node]]:
    """Return for each node the nodes that it is the last to use."""
    last: dict[Node, Node] = {}
    for node in module.graph.nodes:
        for used in node.all_input_nodes:
            last[used] = node
    out: dict[Node, list[Node]] = {}
    for used, node in last.items():
        out.setdefault(node, []).append(used)
    return out
