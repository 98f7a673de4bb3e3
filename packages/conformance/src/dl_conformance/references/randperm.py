"""Random permutations."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.philox import State, below
from dl_conformance.reference import reference


@reference("diopiRandperm")
def randperm(*, n: int, generator: State) -> dict[str, Any]:
    value = list(range(n))
    for at in range(n):
        other = at + below(generator, at, n - at, long=True)
        value[at], value[other] = value[other], value[at]
    return {"out": np.array(value, np.int64)}
