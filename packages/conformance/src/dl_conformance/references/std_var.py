"""Standard deviations."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


@reference("diopiStd")
def std(*, input: Array, dim: Any, correction: Any) -> dict[str, Any]:
    axes = tuple(range(input.ndim)) if not dim else tuple(dim)
    count = int(np.prod([input.shape[x] for x in axes], dtype=np.int64))
    centred = input - np.sum(input, axis=axes, keepdims=True) / max(count, 1)
    divisor = max(count - (1 if correction is None else correction), 0)
    value = np.sqrt(np.sum(centred * centred, axis=axes) / (divisor if count else np.nan))
    return {"out": Expected(value, max(count, 8), np.asarray(value))}
