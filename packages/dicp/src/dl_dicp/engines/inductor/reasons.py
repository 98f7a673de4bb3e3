"""Checks whether Inductor can compile a graph, and the reasons why not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from dl_core import _C
from dl_dicp.engines.runner import warn_dropped
from dl_dicp.recording.trace import name_of
from dl_dicp.statistics import statistics

NAME = "inductor"
"""Name of the engine."""


class DeclinedError(Exception):
    """Inductor cannot compile a graph; the message has the reason.

    :ivar is_fault: whether Inductor was expected to compile the graph, so that the user is warned.
        False for graphs that the documentation excludes.
    """

    def __init__(self, text: str, *, is_fault: bool = False) -> None:
        super().__init__(text)
        self.is_fault = is_fault


def device_among(arguments: Sequence[Any]) -> torch.device:
    """Return the one dl device of a graph's arguments.

    :raises DeclinedError: there is no dl device, there are several, or the CPU cannot access its
        memory.
    """
    found = {a.device for a in arguments if isinstance(a, torch.Tensor) and a.device.type == "dl"}
    if not found:
        raise DeclinedError("no argument is a dl tensor")
    if len(found) > 1:
        names = " and ".join(sorted(map(str, found)))
        raise DeclinedError(f"its arguments are on {names}, but a graph is compiled for one device")
    (device,) = found
    if why := why_out_of_reach(_C.device_info(device.index)):
        raise DeclinedError(f"{device} {why}", is_fault=True)
    return device


def why_out_of_reach(info: dict[str, Any]) -> str:
    """Return why code for the CPU cannot use the memory of a device; empty if it can.

    :param info: result of ``dl_core._C.device_info``.
    """
    vendor = info["vendor"]
    if not info["host_accessible"]:
        return (
            f"(vendor {vendor}) has memory of its own, which the CPU cannot access: Inductor "
            "compiles for the CPU here, and dl-dicp has no Triton for other devices"
        )
    if not info["synchronous"]:
        return (
            f"(vendor {vendor}) computes asynchronously: code for the CPU would read its memory "
            "too early"
        )
    return ""


def check_compiler() -> None:
    """Check that a C++ compiler is available, which each graph needs.

    :raises DeclinedError: no compiler was found.
    """
    from torch._inductor.cpp_builder import get_cpp_compiler

    try:
        get_cpp_compiler()
    except Exception as error:
        raise DeclinedError(
            f"Inductor finds no C++ compiler ({first_line(error)}); install g++, or set the "
            "variable CXX to a compiler",
            is_fault=True,
        ) from error


def check_graph(module: GraphModule) -> None:
    """Check that all operators of a graph behave on the CPU as on the device.

    :raises DeclinedError: an operator behaves differently, or cannot be checked.
    """
    for node in module.graph.nodes:
        target = node.target
        if node.op in ("placeholder", "get_attr", "output"):
            continue
        if node.op != "call_function" or isinstance(target, torch._ops.HigherOrderOperator):
            raise DeclinedError(f"{name_of(target)} has a subgraph")
        if not isinstance(target, torch._ops.OpOverload):
            continue
        if torch.Tag.nondeterministic_seeded in target.tags and not _has_no_dropout(node):
            raise DeclinedError(
                f"it draws random numbers ({name_of(target)}): Inductor's generator would draw "
                "different numbers than the device's"
            )
        if "fused_attention_overrideable" in str(target):
            raise DeclinedError(
                "an attention call has no counterpart on the CPU: the head dimensions of values "
                "and keys differ, or its mask has one or three dimensions or gets a gradient"
            )


def _has_no_dropout(node: Node) -> bool:
    """Return True if an operator draws random numbers only for dropout, and its rate is 0."""
    names = [each.name for each in node.target._schema.arguments]  # type: ignore[union-attr]
    given: dict[str, object] = {**dict(zip(names, node.args, strict=False)), **node.kwargs}
    return "dropout_p" in names and given.get("dropout_p", 0.0) == 0


def report_declined(reason: DeclinedError) -> str:
    """Count a graph that Inductor does not compile, warn of a fault, and return a report line."""
    why = str(reason)
    statistics.count_dropped(NAME, why)
    if reason.is_fault:
        warn_dropped(NAME, why)
    return f"no graph engine {NAME}: {why}"


def first_line(error: BaseException) -> str:
    """Return the type and the first line of an error."""
    said = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
