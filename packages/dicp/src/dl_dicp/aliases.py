"""Calls whose arguments share memory that the graph writes to.

AOTAutograd traces writes for the memory layout of the first call. Dynamo's guards do not notice
that arguments of a later call overlap, and the functional graph then reads old values. Such calls
run the Dynamo graph operator by operator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._guards import TracingContext
from torch.fx import GraphModule

from dl_dicp.compiled import SHARED
from dl_dicp.program.agreement import overlapping
from dl_dicp.statistics import statistics

_PLAIN = (torch.Tensor, torch.nn.Parameter)


def check_overlap(
    module: GraphModule, compiled: Callable[..., Any], examples: Sequence[Any]
) -> Callable[..., Any]:
    """Return the compiled function, with a check of its arguments if the graph writes to any.

    Must be called within the compilation, whose context lists the written arguments. If arguments
    overlap in the first call, AOTAutograd merges them, and its code serves this overlap only.
    """
    context = TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    if metadata is None:
        return compiled
    if len(metadata.input_info) != len(examples):
        return lambda *arguments: _run_eagerly(module, arguments)
    written = {
        place
        for place, info in enumerate(metadata.input_info)
        if info.mutates_data or info.mutates_metadata
    }
    if not written:
        return compiled
    static = set(metadata.static_input_indices)
    # Parameters and buffers are compared with each other in the first call only.
    later = [place for place in range(len(examples)) if place in written or place not in static]
    places = list(range(len(examples)))

    def call(*arguments: Any) -> Any:
        nonlocal places
        checked, places = places, later
        if _share_storage(arguments, checked):
            device = next(x.device for x in arguments if _is_on_dl(x))
            if overlapping(arguments, device) & written:
                places = checked
                return _run_eagerly(module, arguments)
        return compiled(*arguments)

    return call


def _run_eagerly(module: GraphModule, arguments: Sequence[Any]) -> Any:
    statistics.count_eager(SHARED)
    return module(*arguments)


def _is_on_dl(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "dl"


def _share_storage(arguments: Sequence[Any], places: Sequence[int]) -> bool:
    """Return True if two of these arguments are in one storage, which is necessary to overlap."""
    seen: set[int] = set()
    for place in places:
        value = arguments[place]
        if type(value) in _PLAIN and value.device.type == "dl":
            address = value.untyped_storage().data_ptr()
            if address in seen:
                return True
            seen.add(address)
    return False
