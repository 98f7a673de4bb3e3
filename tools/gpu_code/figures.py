"""The figures of a kernel, as the report shows them."""

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
    """:ivar kernel: its name as C++ writes it.
    :ivar stack: bytes of local memory of a thread.
    :ivar local: accesses of local memory on the hot path.
    :ivar occupancy: the share of a multiprocessor's warps that run at once.
    :ivar load: the widest access of global memory on the hot path, in bytes; 0 if there is none.
    :ivar per_element: instructions on the hot path for an element.
    :ivar elements: on the hot path.
    :ivar tensor_core: instructions of tensor cores on the hot path.
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
    """The figures of a kernel; None if it has no elements of this unit."""
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

    It has the widest accesses, where elements are counted by them, and then the fewest instructions
    for an element.
    """

    def rank(figure: Figures) -> tuple[int, float]:
        wide = 0 if unit.what == "multiply-adds" else max(figure.load, figure.store)
        return -wide, figure.per_element

    return min(found, key=rank, default=None)
