"""Check of compiled graphs: each operator of a graph separately, and each graph as a whole.

While a tool observes single operators, ``torch.compile`` does not compile. This tool observes none,
so that the program runs unchanged.
"""

from __future__ import annotations

import contextlib
import itertools
import operator
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch.fx import Graph, GraphModule, Interpreter, Node
from torch.utils._pytree import tree_leaves, tree_map

from diopi_proto.tolerance.torch_operators.comparison import same_values, to_host
from diopi_proto.tolerance.torch_operators.op_classes import draws, is_uninitialised
from diopi_proto.tolerance.torch_operators.schema import Overload, signature
from dl_core.torch_backend.graph_observers import (
    Compile,
    GraphCall,
    add_observer,
    remove_observer,
)
from dl_optools.breadcrumbs.crumb_file import FINISHED, LEFT, RAISED, CrumbWriter
from dl_optools.breadcrumbs.names import FOLDER_VARIABLE
from dl_optools.breadcrumbs.recorder import describe
from dl_optools.diagnosis.repeated_calls import find_difference, max_distance
from dl_optools.environment import environment
from dl_optools.launching.endings import is_terminated
from dl_optools.names import Level, overload_name
from dl_optools.tool import Tool

T = TypeVar("T")
OPERATOR_UNITS = 64.0
"""Allowed difference of one operator inside and outside a graph, in units of eps of the largest
value: a graph may compute the operator blockwise."""
GRAPH_UNITS = 4096.0
"""Allowed difference of a whole graph, in which operators are fused and errors accumulate."""


class GraphCheck(Tool):
    """Compares compiled graphs with their operators, run one by one.

    Each operator of a graph runs eagerly on the device, and compiled alone, with the same
    arguments. Which of the two is right follows from the comparison of operators with the CPU;
    faults of a graph beyond its operators, such as in fusion, show in its results.
    """

    variable = "GRAPHS"
    default_level = Level.DISPATCH
    every_thread = False

    def opened(self) -> None:
        self.calls: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.wrong: dict[str, str] = {}
        self._numbers = itertools.count()
        self._lock = threading.RLock()
        folder = environment().get(FOLDER_VARIABLE)
        self._crumbs = CrumbWriter(Path(folder)) if folder else None
        self._slot = None if self._crumbs is None else self._crumbs.take()

    def closed(self) -> None:
        if self._crumbs is not None and self._slot is not None:
            self._crumbs.leave(self._slot.at)

    def enter(self) -> None:
        add_observer(self._observe)

    def leave(self) -> None:
        remove_observer(self._observe)

    def report(self) -> dict[str, Any]:
        return {
            "calls": dict(self.calls),
            "skipped": dict(self.skipped),
            "wrong": self.wrong,
        }

    def _observe(
        self, module: GraphModule, kind: str, call: GraphCall, compile_part: Compile
    ) -> GraphCall:
        name = f"compiled graph {next(self._numbers)} ({kind})"
        return _CheckedGraph(self, name, module, call, compile_part)

    def is_here(self, tree: Any) -> bool:
        """Return True if the tree has a tensor on the device."""
        leaves = tree_leaves(tree)
        return any(isinstance(x, torch.Tensor) and x.device.type == self.device for x in leaves)

    def accuse(self, name: str, problem: str) -> None:
        """Record the first problem of an operator or a graph."""
        self.wrong.setdefault(name, problem)

    def recorded(self, text: str, work: Callable[[], T]) -> T:
        """Run a function; until it returns, a breadcrumb file names it in case the process dies."""
        if self._crumbs is None or self._slot is None:
            return work()
        self._crumbs.begin(self._slot.at, text)
        state = RAISED
        try:
            result = work()
            if torch.accelerator.is_available():
                torch.accelerator.synchronize()
            state = FINISHED
            return result
        except SystemExit:
            state = RAISED if is_terminated() else LEFT
            raise
        finally:
            self._crumbs.end(self._slot.at, state)


class _CheckedGraph:
    """Wrapper of a compiled graph."""

    # AOTAutograd passes the arguments as one list.
    _boxed_call = True

    def __init__(
        self,
        check: GraphCheck,
        name: str,
        module: GraphModule,
        call: GraphCall,
        compile_part: Compile,
    ) -> None:
        self.check, self.name, self._module = check, name, module
        self._call, self._compile = call, compile_part
        self._parts: dict[Any, GraphCall] = {}
        overloads = [x.target for x in module.graph.nodes if isinstance(x.target, Overload)]
        self._writes = any(signature(x).written for x in overloads)

    def __call__(self, arguments: list[Any]) -> Any:
        check = self.check
        with check._lock, torch.no_grad():
            check.calls[self.name] += 1
            given = list(arguments)
            tensors = [x for x in given if isinstance(x, torch.Tensor)]
            if self._writes and _share_memory(tensors):
                check.skipped[f"{self.name}: its arguments share memory"] += 1
                return self._call(arguments)
            copies = [_copy(x) for x in given] if self._writes else given
            accused = len(check.wrong)
            with _same_draws(tensors):
                wanted = list(_OneByOne(self).run(*copies))
            results = check.recorded(f"{self.name}()", lambda: list(self._call(arguments)))
            if len(check.wrong) == accused:
                self._compare([*results, *given], [*wanted, *copies])
            return results

    def _compare(self, results: Sequence[Any], wanted: Sequence[Any]) -> None:
        for at, (one, two) in enumerate(zip(results, wanted, strict=True)):
            if not (isinstance(one, torch.Tensor) and isinstance(two, torch.Tensor)):
                continue
            left, right = to_host(one), to_host(two)
            if same_values(left, right) or (units := max_distance(right, left)) <= GRAPH_UNITS:
                continue
            self.check.accuse(
                self.name,
                f"value {at} differs by {units:.3g} eps from that of its operators run one by one, "
                "each of which is right alone",
            )

    def run_alone(
        self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
    ) -> None:
        """Compare one operator with the result of a compiled graph that contains only it."""
        overload = node.target
        assert isinstance(overload, Overload)
        name = overload_name(overload)
        tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        part = self._part(node, args, kwargs, result)
        copies = [_copy(x) for x in tensors]
        text = describe(name, args, kwargs)

        def run() -> list[Any]:
            # Call with other values first: stale results of that call then differ from the right
            # ones.
            with contextlib.suppress(RuntimeError):
                part([_with_other_values(x) for x in tensors])
            return list(part(list(copies)))

        found = self.check.recorded(f"{text} in a compiled graph", run)
        several = isinstance(result, (tuple, list))
        again = _replace_tensors(result, found) if several else found[0]
        pair = find_difference(overload, args, kwargs, result, again)
        if pair is None:
            pair = _other_zeros(result, again)
        if pair is not None and (units := max_distance(*pair)) > OPERATOR_UNITS:
            self.check.accuse(
                name,
                f"in a compiled graph its result differs by {units:.3g} eps from the result "
                f"of the same call outside of a compiled graph: {text}",
            )
        for one, two in zip(copies, tensors, strict=True):
            if not same_values(to_host(one), to_host(two)):
                self.check.accuse(name, f"in a compiled graph it overwrites an argument: {text}")

    def _part(
        self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
    ) -> GraphCall:
        """Return the operator of a node as a graph of its own; constants are part of the graph."""
        constants = [x for x in tree_leaves((args, kwargs)) if not isinstance(x, torch.Tensor)]
        key = (node, str(constants))
        known = self._parts.get(key)
        if known is None:
            known = self._parts[key] = self._compile(_graph_of(node, args, kwargs, result))
            leaves = tree_leaves((args, kwargs))
            # The first call is eager, and records the graph.
            known([_copy(x) for x in leaves if isinstance(x, torch.Tensor)])
        return known


class _OneByOne(Interpreter):
    """Runs a graph eagerly, and additionally each operator as a graph of its own."""

    def __init__(self, graph: _CheckedGraph) -> None:
        super().__init__(graph._module)
        self._graph = graph

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        overload = n.target
        if n.op == "call_function" and isinstance(overload, Overload):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            facts = signature(overload)
            if not (
                facts.view
                or facts.written
                or is_uninitialised(overload)
                or draws(overload, args, kwargs)
                or not self._graph.check.is_here((args, kwargs))
            ):
                self._graph.run_alone(n, args, kwargs, result)
        return result


def _graph_of(
    node: Node, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> GraphModule:
    graph = Graph()
    places: list[Node] = []

    def argument(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        places.append(graph.placeholder(f"argument_{len(places)}"))
        return places[-1]

    new_args, new_kwargs = tree_map(argument, (args, kwargs))
    assert callable(node.target)
    made = graph.call_function(node.target, new_args, new_kwargs)
    if isinstance(result, (tuple, list)):
        outputs = [
            graph.call_function(operator.getitem, (made, at))
            for at, value in enumerate(result)
            if isinstance(value, torch.Tensor)
        ]
        graph.output(tuple(outputs))
    else:
        graph.output((made,))
    return GraphModule({}, graph)


def _replace_tensors(result: Sequence[Any], found: list[Any]) -> tuple[Any, ...]:
    """Return the structure of a result with its tensors replaced."""
    tensors = iter(found)
    return tuple(next(tensors) if isinstance(x, torch.Tensor) else x for x in result)


def _other_zeros(result: Any, again: Any) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return the sign bits of the first pair of results in which a zero has lost its sign."""
    for one, two in zip(tree_leaves(result), tree_leaves(again), strict=True):
        if isinstance(one, torch.Tensor) and one.is_floating_point():
            left, right = to_host(one), to_host(two)
            other = (left == 0) & (left.signbit() != right.signbit())
            if bool(other.any()):
                return (left.signbit().to(left.dtype), right.signbit().to(left.dtype))
    return None


def _copy(value: Any) -> Any:
    """Return a copy of a tensor with the same memory layout; other values unchanged."""
    if not isinstance(value, torch.Tensor):
        return value
    if any(step == 0 and size > 1 for size, step in zip(value.shape, value.stride(), strict=True)):
        return value.detach().clone()
    made = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)
    return made.copy_(value.detach())


def _with_other_values(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor of the same layout with other values, unless they are indices."""
    made: torch.Tensor = _copy(tensor)
    return made.mul_(0.5) if made.is_floating_point() else made


def _share_memory(tensors: Sequence[torch.Tensor]) -> bool:
    places = [x.untyped_storage().data_ptr() for x in tensors if x.numel()]
    return len(set(places)) < len(places)


@contextlib.contextmanager
def _same_draws(tensors: Sequence[torch.Tensor]) -> Iterator[None]:
    """Restore the random generators on exit, so that the following code repeats the draws."""
    devices = {x.device for x in tensors if x.device.type != "cpu"}
    states = [(x, torch.get_device_module(x).get_rng_state(x)) for x in devices]
    host = torch.random.get_rng_state()
    try:
        yield
    finally:
        for device, state in states:
            torch.get_device_module(device).set_rng_state(state, device)
        torch.random.set_rng_state(host)
