"""Vector norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


def _norm(input: Array, p: float, dim: Any, keepdim: bool) -> Expected:
    axes = tuple(range(input.ndim)) if not dim else tuple(dim)
    size = np.abs(input)
    options: dict[str, Any] = {"axis": axes, "keepdims": keepdim}
    if p == 0:
        value = np.sum(size != 0, **options).astype(np.longdouble)
    elif np.isinf(p):
        value = np.max(size, **options) if p > 0 else np.min(size, **options)
    else:
        value = np.sum(size ** np.longdouble(p), **options) ** (1 / np.longdouble(p))
    count = int(np.prod([input.shape[x] for x in axes], dtype=np.int64))
    return Expected(value, max(count, 8), np.abs(np.asarray(value)))


@reference("diopiNorm")
def norm(*, input: Array, p: Any, dim: Any) -> dict[str, Any]:
    return {"out": _norm(input, 2 if p is None else p, dim, False)}


@reference("diopiLinalgVecNorm")
def vector_norm(*, input: Array, ord: Any, dim: Any, keepdim: bool) -> dict[str, Any]:
    return {"out": _norm(input, ord, dim, keepdim)}
