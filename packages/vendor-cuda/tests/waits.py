"""Detection of operators that wait: calls each on the simulated driver, which counts waits.

    python waits.py [PARTS/SEED]

Prints JSON: the driver calls in which each operator waited, which is empty for most. Run
it with ``DL_CUDA_DRIVER``. A graph cannot capture a call that waits.
"""

from __future__ import annotations

import gc
import json
import math
import sys
from collections.abc import Iterator
from itertools import islice

from diopi_proto import Vendor, load_vendor
from diopi_proto.errors import DiopiError
from diopi_proto.schema import load
from dl_conformance.case import Case
from dl_conformance.catalog import cases_of, in_sample
from dl_conformance.execution import Call, CaseInputs
from dl_conformance.vocabulary import tensors
from dl_gpu_sim import waits
from dl_vendor_cuda.plugin import dl_vendor

MOST_CASES = 4
"""Cases per operator, because its behavior depends on its arguments."""
MOST_ELEMENTS = 4096
"""Maximum elements of a tensor, because the kernels are interpreted."""


SHORT = ("bool", "uint8", "int8", "int16", "float16", "bfloat16")
"""Operators that update elements through the word around them, even at the end of an allocation,
which the simulated driver reports as an out-of-bounds access."""


def is_small(case: Case) -> bool:
    return max((math.prod(x.sizes) for x in tensors(case.arguments)), default=0) <= MOST_ELEMENTS


def some_cases(operator: str) -> Iterator[Case]:
    """Yield cases spread over the list of all cases, starting with the first."""
    cases = [case for case in cases_of(operator) if case.refusal is None and is_small(case)]
    cases = [case for case in cases if case.dtype not in SHORT] or cases
    step = max(1, len(cases) // MOST_CASES)
    yield from islice(cases[::step], MOST_CASES)


def count_waits(vendor: Vendor, case: Case) -> dict[str, int] | None:
    """Return how often a call waited, by driver call; None if the operator was declined."""
    inputs = CaseInputs(case)
    call = Call(vendor, inputs, inputs.expected())
    if fault := call.prepare():
        raise AssertionError(f"{case.name}: {fault}")
    # Free the tensors of earlier calls before counting: freeing memory waits.
    gc.collect()
    before = waits()
    try:
        kept = vendor.op[case.operator](**call.arguments, synchronize=False)
    except DiopiError:
        return None
    after = waits()
    vendor.synchronize()
    del kept
    return {
        name: after[name] - before.get(name, 0)
        for name in after
        if after[name] != before.get(name, 0)
    }


def main(parts: int, seed: int) -> None:
    found: dict[str, list[str]] = {}
    gc.disable()
    with load_vendor(dl_vendor().library) as vendor:
        # The first operator that checks data makes the host create the stream's error word, and
        # wait.
        count_waits(vendor, next(some_cases("diopiIndexSelect")))
        for operator, bound in vendor.operators.items():
            if operator not in load() or not bound or not in_sample(operator, parts, seed):
                continue
            results = [count_waits(vendor, case) for case in some_cases(operator)]
            if any(each is not None for each in results):
                found[operator] = sorted({name for each in results if each for name in each})
    print(json.dumps(found))


if __name__ == "__main__":
    wanted = sys.argv[1].split("/") if len(sys.argv) > 1 else ("1", "0")
    main(*map(int, wanted))
