"""Check of operators on a device other than the first."""

from __future__ import annotations

import numpy as np

from diopi_proto import OperatorError, Tensor, Vendor
from dl_conformance.queues import Bench, Block, repeat_while_busy

from .check import SkipError, accuse, check, operator
from .waiting import ORDERED

OPERATOR = "diopiMul"
COUNT = 1024
SECOND = 1
REMEDY = (
    "take the device of a call from its context as well: dl_context_device; a NULL "
    "dl_context_stream is the default stream of that device"
)
NAMED = "the default stream is that of the device that the call names"


def _block(tensor: Tensor) -> Block:
    return Block(tensor.storage.address, tensor.storage.nbytes)


@check("operators run on the device of their context", after=(*ORDERED, NAMED), unguarded=True)
def contexts(vendor: Vendor) -> None:
    if vendor.device_count <= SECOND:
        raise SkipError("the library has one device")
    multiply = operator(vendor, OPERATOR)

    def filled(value: float) -> Tensor:
        return vendor.tensor(np.full(COUNT, value, np.float32), device=SECOND)

    def is_right(out: Tensor) -> bool:
        return bool((out.numpy() == 9).all())

    factor, late, out = filled(3), filled(0), filled(0)
    try:
        multiply(out, factor, factor)
    except OperatorError as error:
        accuse(OPERATOR, f"it fails on the second device: {error}", REMEDY)
    if not is_right(out):
        accuse(OPERATOR, "it gives a wrong result on the second device", REMEDY)
    with Bench(vendor, SECOND) as bench:
        zeros = bench.pageable(0, _block(late).nbytes)

        def once() -> bool:
            for tensor in (late, out):
                bench.upload(_block(tensor), zeros, bench.default)
            bench.settle()
            # The default stream writes the factors after long work, and then multiplies them.
            bench.load(bench.default)
            bench.copy(_block(late), _block(factor), bench.default)
            multiply(out, late, late, synchronize=False)
            busy = bench.is_loaded(bench.default)
            bench.settle()
            if not is_right(out):
                accuse(OPERATOR, "it did not wait for the second device's default stream", REMEDY)
            return busy

        repeat_while_busy(bench, once)
