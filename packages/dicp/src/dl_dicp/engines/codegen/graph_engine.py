"""Graph engine of ``codegen``: its groups of calls, their kernels, and the runner."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import prod
from typing import Any

import torch

from dl_core import _C
from dl_dicp.engines.codegen.dialect import Dialect, Function
from dl_dicp.engines.codegen.groups import Group, groups_of
from dl_dicp.engines.codegen.kernel import Kernel, kernel_of
from dl_dicp.engines.codegen.loops import UnsuitedError
from dl_dicp.engines.interface import RejectedError, Runner

FEWEST_ELEMENTS = 1 << 17
"""Minimum number of elements of a group's results. For fewer elements, starting the kernel takes
longer than the separate operators."""
SECONDS = 60.0
"""Timeout of the compiler for the kernels of one graph, in seconds."""


class Codegen:
    """Graph engine for one device.

    :param device: device whose vendor compiles the dialect.
    """

    version = "1"

    def __init__(self, device: torch.device, dialect: Dialect) -> None:
        self._device = device
        self._dialect = dialect

    def accepts(self, graph: Mapping[str, Any]) -> Sequence[bool]:
        """Accept the calls of groups for which a kernel pays off."""
        entry = graph["entries"]["main"]
        groups = list(groups_of(entry))
        suits = cache(lambda place: self._suits(entry, groups[place]))
        accepted = set[int]()
        for group in filter(_is_worth, groups):
            # Calls interleaved with the calls of this kernel must be in kernels as well.
            first, last = group.calls[0].number, group.calls[-1].number
            near = [n for n, x in enumerate(groups) if first <= x.calls[0].number < last]
            if all(map(suits, near)):
                accepted |= {call.number for n in near for call in groups[n].calls}
        return [number in accepted for number in range(len(entry["calls"]))]

    def compile(self, graph: Mapping[str, Any]) -> bytes:
        """Return the compiled kernels, with the launches of a run.

        :raises RejectedError: a call is not in any kernel.
        """
        entry = graph["entries"]["main"]
        dialect = self._dialect
        functions = list(functions_of(entry, dialect))
        code = _C.compile_kernels(
            self._device.index,
            dialect.language,
            dialect.file,
            "\n".join([dialect.prelude, *(each.text for each in functions)]),
            dialect.options(),
            SECONDS,
        )
        launches = [(x.name, x.blocks, x.threads, list(x.storages)) for x in functions]
        sizes = [
            storage["bytes"] if storage["kind"] == "temp" else -1 for storage in entry["storages"]
        ]
        head = json.dumps({"launches": launches, "sizes": sizes}).encode()
        return len(head).to_bytes(8, "little") + head + code

    def load(self, code: bytes) -> Runner:
        """Return a runner that launches the kernels."""
        end = 8 + int.from_bytes(code[:8], "little")
        head = json.loads(code[8:end])
        return _Kernels(self._device, code[end:], head["launches"], head["sizes"])

    def _suits(self, entry: Mapping[str, Any], group: Group) -> bool:
        try:
            kernels = list(_kernels_of(entry, group, self._dialect.most_buffered))
        except UnsuitedError:
            return False
        return all(kernel.loops.accesses for kernel in kernels)


class _Kernels:
    """Runner that launches kernels with the addresses of a graph's storages. Temporaries between
    kernels use memory per thread and stream; a graph capture has separate memory.
    """

    def __init__(
        self, device: torch.device, code: bytes, launches: Sequence[Any], sizes: Sequence[int]
    ) -> None:
        used = {place for *_, places in launches for place in places}
        self._temporaries = [
            (place, size) for place, size in enumerate(sizes) if size >= 0 and place in used
        ]
        self._outside = [place for place, size in enumerate(sizes) if size < 0]
        self._count = len(sizes)
        self._device = device
        self._memory = threading.local()
        self._program = _C.KernelProgram(
            device.index, code, [tuple(launch) for launch in launches], len(sizes)
        )

    def __call__(self, addresses: Sequence[int], stream: int) -> None:
        placed = [0] * self._count
        for place, address in zip(self._outside, addresses, strict=True):
            placed[place] = address
        if self._temporaries:
            for (place, _), block in zip(self._temporaries, self._blocks(stream), strict=True):
                placed[place] = block.data_ptr()
        self._program.run(placed)

    def _blocks(self, stream: int) -> list[torch.Tensor]:
        of_streams: dict[int, list[torch.Tensor]] = self._memory.__dict__.setdefault("blocks", {})
        if _C.is_capturing(self._device.index):
            return self._new_blocks()
        if stream not in of_streams:
            of_streams[stream] = self._new_blocks()
        return of_streams[stream]

    def _new_blocks(self) -> list[torch.Tensor]:
        return [
            torch.empty(size, dtype=torch.uint8, device=self._device)
            for _, size in self._temporaries
        ]


def functions_of(entry: Mapping[str, Any], dialect: Dialect) -> Iterator[Function]:
    """Return the kernel functions of an entry.

    :raises RejectedError: a call is not in any group.
    """
    groups = list(groups_of(entry))
    if sum(len(group.calls) for group in groups) != len(entry["calls"]):
        raise RejectedError("a call is not in any group")
    try:
        kernels = [x for group in groups for x in _kernels_of(entry, group, dialect.most_buffered)]
    except UnsuitedError as error:
        raise RejectedError(str(error)) from error
    for place, kernel in enumerate(kernels):
        yield dialect.function_of(kernel, f"fused_{place}")


def _kernels_of(entry: Mapping[str, Any], group: Group, most_buffered: int) -> Iterator[Kernel]:
    """Yield the kernel of a group, or those of its two parts if it is too large for one.

    :raises UnsuitedError: a single call is too large.
    """
    try:
        yield kernel_of(group, _needed(entry, group), most_buffered)
    except UnsuitedError:
        if len(group.calls) < 2:
            raise
        middle = len(group.calls) // 2
        for calls in (group.calls[:middle], group.calls[middle:]):
            yield from _kernels_of(entry, replace(group, calls=calls), most_buffered)


def _is_worth(group: Group) -> bool:
    elements = sum(prod(call.rows) * call.length for call in group.calls)
    return len(group.calls) >= 2 and elements >= FEWEST_ELEMENTS


def _needed(entry: Mapping[str, Any], group: Group) -> set[int]:
    """Return storages that may be read outside a group: all except the group's temporaries."""
    inside = {call.number for call in group.calls}
    needed = {n for n, storage in enumerate(entry["storages"]) if storage["kind"] != "temp"}
    for number, (_, arguments) in enumerate(entry["calls"]):
        if number not in inside:
            needed |= {entry["values"][value]["storage"] for value in _tensors(entry, arguments)}
    return needed


def _tensors(entry: Mapping[str, Any], arguments: Mapping[str, Any]) -> Iterator[int]:
    """Yield integers that may be value indices; some are sizes, which is harmless."""
    for given in arguments.values():
        for each in given if isinstance(given, list) else [given]:
            if isinstance(each, int) and 0 <= each < len(entry["values"]):
                yield each
