"""Calls whose arguments share memory that the graph writes to.

AOTAutograd traces writes for the memory layout of the first call. Dynamo's guards do not notice
that arguments of a later call overlap, and the functional graph then reads old values. Such calls
run the Dynamo graph operator by operator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._functorch._aot_autograd.schemas import OutputType
from torch._guards import TracingContext
from torch.fx import GraphModule

from dl_dicp.compiled import SHARED
from dl_dicp.program.agreement import overlapping
from dl_dicp.statistics import statistics

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_Layout = tuple[tuple[tuple[int, int, tuple[int, ...], tuple[int, ...]], ...], ...]
"""For each storage that arguments share: the place, offset, sizes and strides of each of them."""


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
    places = range(len(examples))
    written = {
        place
        for place, info in enumerate(metadata.input_info)
        if info.mutates_data or info.mutates_metadata
    }
    # Merged arguments, and the parts of tensor subclasses, have other places.
    is_known = len(metadata.input_info) == len(examples)
    if is_known and not written:
        return compiled
    static = set(metadata.static_input_indices)
    # Parameters and buffers are compared with each other in the first call only.
    later = [place for place in places if place in written or place not in static]
    # AOTAutograd restores views of merged arguments from the wrong base.
    returns_views = any(
        info.output_type not in (OutputType.non_alias, OutputType.unsafe_view_alias)
        for info in metadata.output_info
    )
    first: _Layout | None = None

    def call(*arguments: Any) -> Any:
        nonlocal first
        if first is None:
            merged = bool(_overlapping(arguments, places) & written) if is_known else True
            first = _layout(arguments) if merged else ()
        if first:
            if returns_views or _layout(arguments) != first:
                return _run_eagerly(module, arguments)
        elif is_known and _overlapping(arguments, later) & written:
            return _run_eagerly(module, arguments)
        return compiled(*arguments)

    return call


def _overlapping(arguments: Sequence[Any], places: Sequence[int]) -> set[int]:
    """Return the places of arguments that overlap, if two of ``places`` share a storage."""
    if not _share_storage(arguments, places):
        return set()
    device = next(x.device for x in arguments if _is_on_dl(x))
    return set(overlapping(arguments, device))


def _layout(arguments: Sequence[Any]) -> _Layout:
    """Return the arguments that share storages, with their places in these."""
    found: dict[int, list[tuple[int, int, tuple[int, ...], tuple[int, ...]]]] = {}
    for place, value in enumerate(arguments):
        if type(value) in _PLAIN and _is_on_dl(value):
            view = (place, value.storage_offset(), tuple(value.shape), value.stride())
            found.setdefault(value.untyped_storage().data_ptr(), []).append(view)
    return tuple(tuple(views) for views in found.values() if len(views) > 1)


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
        if type(value) in _PLAIN and _is_on_dl(value):
            address = value.untyped_storage().data_ptr()
            if address in seen:
                return True
            seen.add(address)
    return False
