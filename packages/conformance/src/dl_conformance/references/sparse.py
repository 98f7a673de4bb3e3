"""Products of sparse CSR matrices: only stored elements contribute."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference
from dl_conformance.sparse import Csr


@reference("diopiSpMM")
def spmm(*, input: Csr, mat2: Array) -> dict[str, Any]:
    shape = (input.shape[0], mat2.shape[1])
    value, size = np.zeros((2, *shape), mat2.dtype)
    length = np.diff(input.crow_indices)
    for row in range(shape[0]):
        held = slice(input.crow_indices[row], input.crow_indices[row + 1])
        terms = input.values[held, None] * mat2[input.col_indices[held]]
        value[row] = terms.sum(axis=0)
        size[row] = np.abs(terms).sum(axis=0)
    length = np.broadcast_to(np.maximum(length, 1)[:, None], shape)
    return {"out": Expected(value, length, size)}
