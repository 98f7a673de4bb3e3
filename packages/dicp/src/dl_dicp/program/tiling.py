"""Calls of a contract graph that the executor runs block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import torch

from dl_core import _C
from dl_dicp.errors import NotCompiledError
from dl_dicp.program.document import ENTRY
from dl_dicp.recording.calls import Call
from dl_graph import ContractGraph, TilingReport
from dl_graph.errors import GraphError

_NONE = TilingReport((), (), {}, 0)


def computes_on_host(device: torch.device) -> bool:
    """Return True if a device computes in host memory and synchronously."""
    known = _C.device_info(device.index)
    return bool(known["host_accessible"] and known["synchronous"])


def tiling_of(
    graph: ContractGraph, device: torch.device, engine: str, sizes: Mapping[str, int]
) -> TilingReport:
    """Return the groups of a graph on a device; empty if its calls run whole.

    :param sizes: sizes of the graph's symbols.
    :raises NotCompiledError: the graph does not serve these sizes.
    """
    if engine != "tiled" or not computes_on_host(device):
        return _NONE
    try:
        return graph.tiling(ENTRY, **sizes)
    except GraphError as error:
        raise NotCompiledError(str(error)) from error


def tiled_calls(tilings: Sequence[TilingReport]) -> int:
    """Return the number of calls in groups."""
    return sum(len(group) for tiling in tilings for group in tiling.groups)


def describe(calls: Sequence[Call], tiling: TilingReport) -> Iterator[str]:
    """Return a line for each group, and for each reason why calls are not in a group."""
    for group, blocks in zip(tiling.groups, tiling.blocks, strict=True):
        yield f"{blocks} blocks of {counted(calls[number] for number in group)}"
    by_reason: dict[str, list[int]] = {}
    for number, reason in tiling.reasons.items():
        by_reason.setdefault(reason, []).append(number)
    for reason, numbers in by_reason.items():
        yield f"whole, because {reason}: {counted(calls[number] for number in numbers)}"


def counted(calls: Iterable[Call]) -> str:
    """Format the operators of calls: ``diopiMul x2, diopiAdd``."""
    names = Counter(call.operator for call in calls)
    return ", ".join(f"{name} x{n}" if n > 1 else name for name, n in names.items())
