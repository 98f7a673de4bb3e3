"""Figures of a kernel for the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from tools.gpu_code.cubin import Kernel
from tools.gpu_code.listing import blocks
from tools.gpu_code.paths import LOADS, STORES, TENSOR_CORE, Unit, hot_path

LOCAL = ("LDL", "STL")
ASYNC = ("LDGSTS",)


@dataclass(frozen=True)
class Figures:
    """Figures of one kernel.

    :ivar kernel: demangled name.
    :ivar stack: bytes of local memory per thread.
    :ivar local: number of local memory accesses on the hot path.
    :ivar occupancy: fraction of a multiprocessor's warps that are resident.
    :ivar load: bytes of the widest global memory access on the hot path; 0 if there is none.
    :ivar per_element: instructions per element on the hot path.
    :ivar elements: number of elements on the hot path.
    :ivar tensor_core: number of tensor core instructions on the hot path.
    """

    kernel: str
    registers: int
    stack: int
    local: int
    shared: int
    occupancy: float
    load: int
    store: int
    per_element: float
    elements: float
    loop: bool
    tensor_core: int

    def json(self) -> dict[str, Any]:
        return asdict(self)


def figures(kernel: Kernel, name: str, unit: Unit) -> Figures | None:
    """Return the figures of a kernel; None if it has no elements of this unit."""
    path = hot_path(blocks(kernel.instructions), unit)
    if path is None:
        return None
    resources = kernel.resources
    return Figures(
        kernel=name,
        registers=resources.registers,
        stack=resources.stack,
        local=path.count(LOCAL),
        shared=resources.shared,
        occupancy=round(resources.occupancy, 3),
        load=path.widest((*LOADS, *ASYNC)),
        store=path.widest(STORES),
        per_element=round(path.per_element, 3),
        elements=round(path.elements, 3),
        loop=path.loop,
        tensor_core=path.count(TENSOR_CORE),
    )


def best(found: Iterable[Figures], unit: Unit) -> Figures | None:
    """Return the kernel of a pair for large dense operands.

    It has the widest accesses, if elements are counted by them, and then the fewest instructions
    per element.
    """

    def rank(figure: Figures) -> tuple[int, float]:
        wide = 0 if unit.what == "multiply-adds" else max(figure.load, figure.store)
        return -wide, figure.per_element

    return min(found, key=rank, default=None)
