"""Conversion of a device graph to a CPU graph with the same operators."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_aggregate
from torch.utils._pytree import tree_leaves

from dl_dicp.engines.inductor.reasons import DeclinedError
from dl_dicp.program.agreement import find_written_arguments
from dl_dicp.recording.memory import TORCH_DTYPES

HOST = torch.device("cpu")


@dataclass
class HostGraph:
    """CPU graph that Inductor compiles.

    :ivar inputs: examples of its arguments, as fake CPU tensors.
    :ivar written: for each argument, whether the graph writes to it.
    :ivar on_device: for each result, whether it is a tensor of the device.
    :ivar constants: constant tensors of the graph.
    :ivar varies: whether sizes of its arguments are symbolic.
    """

    module: GraphModule
    inputs: list[Any]
    written: list[bool]
    on_device: list[bool]
    constants: list[torch.Tensor]
    varies: bool


def host_graph(module: GraphModule, examples: Sequence[Any], device: torch.device) -> HostGraph:
    """Return a copy of the graph for the CPU.

    :param examples: fake tensors of the device, and integers.
    :raises DeclinedError: the graph cannot run on the CPU.
    """
    written = find_written_arguments(module)
    if written is None:
        raise DeclinedError("it mutates a tensor that is not a graph input")
    _check_devices(module, device)
    constants: list[torch.Tensor] = []
    made = _on_host(module, constants)
    results = tree_leaves(next(iter(reversed(module.graph.nodes))).args[0], is_leaf=_is_node)
    return HostGraph(
        made,
        _host_inputs(examples),
        [place in written for place in range(len(examples))],
        [_is_node(each) and _lies_on_dl(each.meta.get("val")) for each in results],
        constants,
        any(_varies(each) for each in examples),
    )


def _is_node(value: object) -> bool:
    return isinstance(value, Node)


def _lies_on_dl(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "dl"


def _varies(example: object) -> bool:
    if isinstance(example, torch.Tensor):
        return any(isinstance(size, torch.SymInt) for size in example.shape)
    return isinstance(example, torch.SymInt)


def _check_devices(module: GraphModule, device: torch.device) -> None:
    for node in module.graph.nodes:
        for value in tree_leaves(node.meta.get("val")):
            if not isinstance(value, torch.Tensor) or value.device.type == HOST.type:
                continue
            if value.device != device:
                raise DeclinedError(f"{node.name} is on {value.device}, the arguments on {device}")
            if value.layout != torch.strided or value.dtype not in TORCH_DTYPES:
                raise DeclinedError(f"{node.name} is not a dense tensor of a supported dtype")
            if node.op == "placeholder" and (value.is_conj() or value.is_neg()):
                raise DeclinedError(f"the argument {node.name} is a lazy conjugate or negative")


def _on_host(module: GraphModule, constants: list[torch.Tensor]) -> GraphModule:
    graph = Graph()
    root: dict[str, Any] = {}
    copies: dict[Node, Node] = {}
    for node in module.graph.nodes:
        if node.op == "get_attr":
            value = operator.attrgetter(node.target)(module)
            if isinstance(value, torch.Tensor):
                # The original graph keeps the device's tensor. Neither tensor is written.
                value = _constant(value)
                constants.append(value)
            root[node.target] = value
        copy = copies[node] = graph.node_copy(node, lambda each: copies[each])
        if node.op == "call_function":
            _move(copy, node)
    return GraphModule(root, graph)


def _constant(value: torch.Tensor) -> torch.Tensor:
    with torch._subclasses.fake_tensor.unset_fake_temporarily():
        return value.detach().to(HOST)


def _move(copy: Node, node: Node) -> None:
    """Make a node create its tensors on the CPU. A copy between host and device remains a copy: its
    result shares no memory with its argument."""
    if node.target is torch.ops.prims.device_put.default:
        copy.target = torch.ops.aten.clone.default
        copy.args, copy.kwargs = copy.args[:1], {}
        return
    copy.args = map_aggregate(copy.args, _device_on_host)
    copy.kwargs = map_aggregate(copy.kwargs, _device_on_host)


def _device_on_host(value: Any) -> Any:
    return HOST if isinstance(value, torch.device) else value


def _host_inputs(examples: Sequence[Any]) -> list[Any]:
    mode = torch._guards.detect_fake_mode(examples)
    if mode is None:
        raise DeclinedError("its arguments are not fake tensors")
    with mode:
        return [
            torch.empty_strided(each.shape, each.stride(), dtype=each.dtype, device=HOST)
            if _lies_on_dl(each)
            else each
            for each in examples
        ]
