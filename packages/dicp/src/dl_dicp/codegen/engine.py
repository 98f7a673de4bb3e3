"""The graph engine: which calls it takes, their C++, and what runs it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import torch

from dl_core import _C
from dl_dicp.engines.interface import RejectedError, Runner

from .groups import Group, groups_of
from .kernel import kernel_of
from .loops import UnsuitedError
from .text import PRELUDE, Function, function_of

OPTIONS = (
    # Operators round their results: a product is rounded before it is added to something.
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fopenmp-simd",
)
FEWEST_ELEMENTS = 1 << 17
"""Of results, of all calls of a group together: less is over before a kernel has begun."""
SECONDS = 60.0
"""That the compiler may take for the kernels of one graph."""


class Codegen:
    """Kernels for one device.

    :param device: whose vendor compiles C++.
    """

    version = "1"

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def accepts(self, graph: Mapping[str, Any]) -> Sequence[bool]:
        """The calls of groups that are worth a kernel."""
        entry = graph["entries"]["main"]
        groups = [(group, {call.number for call in group.calls}) for group in groups_of(entry)]
        worth = [numbers for group, numbers in groups if _is_worth(entry, group)]
        # What stands between the calls of one kernel has to be one, too.
        between = [
            few for _, few in groups if any(min(each) < min(few) < max(each) for each in worth)
        ]
        numbers = set[int]().union(*worth, *between)
        return [number in numbers for number in range(len(entry["calls"]))]

    def compile(self, graph: Mapping[str, Any]) -> bytes:
        """The compiled kernels, with the launches of a run.

        :raises RejectedError: a call is in no kernel.
        """
        entry = graph["entries"]["main"]
        functions = list(functions_of(entry))
        code = _C.compile_kernels(
            self._device.index,
            "c++",
            "fused.cpp",
            source_of(functions),
            [*OPTIONS, f"-I{_headers()}"],
            SECONDS,
        )
        launches = [(each.name, each.blocks, list(each.storages)) for each in functions]
        sizes = [
            storage["bytes"] if storage["kind"] == "temp" else -1 for storage in entry["storages"]
        ]
        head = json.dumps({"launches": launches, "sizes": sizes}).encode()
        return len(head).to_bytes(8, "little") + head + code

    def load(self, code: bytes) -> Runner:
        """What launches them."""
        end = 8 + int.from_bytes(code[:8], "little")
        head = json.loads(code[8:end])
        return _Kernels(self._device, code[end:], head["launches"], head["sizes"])


class _Kernels:
    """Launches kernels with the addresses of a graph's storages. What lives between two of them is
    in memory of the thread."""

    def __init__(
        self, device: torch.device, code: bytes, launches: Sequence[Any], sizes: Sequence[int]
    ) -> None:
        used = {place for _, _, places in launches for place in places}
        self._temporaries = [
            (place, size) for place, size in enumerate(sizes) if size >= 0 and place in used
        ]
        self._outside = [place for place, size in enumerate(sizes) if size < 0]
        self._count = len(sizes)
        self._device = device
        self._memory = threading.local()
        self._program = _C.KernelProgram(
            device.index, code, [(name, n, places) for name, n, places in launches], len(sizes)
        )

    def __call__(self, addresses: Sequence[int], stream: int) -> None:
        placed = [0] * self._count
        for place, address in zip(self._outside, addresses, strict=True):
            placed[place] = address
        if self._temporaries:
            for (place, _), block in zip(self._temporaries, self._blocks(), strict=True):
                placed[place] = block.data_ptr()
        self._program.run(placed)

    def _blocks(self) -> list[torch.Tensor]:
        found: list[torch.Tensor] | None = getattr(self._memory, "blocks", None)
        if found is None:
            found = self._memory.blocks = [
                torch.empty(size, dtype=torch.uint8, device=self._device)
                for _, size in self._temporaries
            ]
        return found


def functions_of(entry: Mapping[str, Any]) -> Iterator[Function]:
    """The functions of the kernels of an entry, all of whose calls are in groups.

    :raises RejectedError: one is not.
    """
    groups = list(groups_of(entry))
    if sum(len(group.calls) for group in groups) != len(entry["calls"]):
        raise RejectedError("a call is in no group")
    for place, group in enumerate(groups):
        try:
            made = kernel_of(group, _needed(entry, group))
        except UnsuitedError as error:
            raise RejectedError(str(error)) from error
        yield function_of(made, f"fused_{place}")


def source_of(functions: Sequence[Function]) -> str:
    """The text of one source."""
    return "\n".join([PRELUDE, *(each.text for each in functions)])


def _needed(entry: Mapping[str, Any], group: Group) -> set[int]:
    """Storages that something else than a group may read, all but temporaries of its own."""
    inside = {call.number for call in group.calls}
    needed = {n for n, storage in enumerate(entry["storages"]) if storage["kind"] != "temp"}
    for number, (_, arguments) in enumerate(entry["calls"]):
        if number not in inside:
            needed |= {entry["values"][value]["storage"] for value in _tensors(entry, arguments)}
    return needed


def _tensors(entry: Mapping[str, Any], arguments: Mapping[str, Any]) -> Iterator[int]:
    """Numbers that may be those of values: some are sizes, which does no harm."""
    for given in arguments.values():
        for each in given if isinstance(given, list) else [given]:
            if isinstance(each, int) and 0 <= each < len(entry["values"]):
                yield each


def _is_worth(entry: Mapping[str, Any], group: Group) -> bool:
    if len(group.calls) < 2:
        return False
    elements = sum(prod(call.rows) * call.length for call in group.calls)
    if elements < FEWEST_ELEMENTS:
        return False
    try:
        kernel = kernel_of(group, _needed(entry, group))
    except UnsuitedError:
        return False
    return bool(kernel.loops.accesses)


def _headers() -> str:
    from dl_kernels import include_dir

    return str(include_dir())
