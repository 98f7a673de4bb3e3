"""Sparse CSR tensors of a call, as three arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from diopi_proto import Tensor, Vendor

from .case import T
from .inputs import Array, exact, uniform


class Csr(NamedTuple):
    """Stored elements of a sparse matrix, row by row.

    :ivar crow_indices: start of each row in the other arrays, and the number of elements.
    :ivar col_indices: column of each element.
    :ivar values: elements in the storage format of the dtype; for references, as wide numbers.
    :ivar shape: numbers of rows and columns.
    """

    crow_indices: Array
    col_indices: Array
    values: Array
    shape: tuple[int, ...]

    @classmethod
    def of(cls, tensor: T, key: str, dtype: str, edge: str) -> Csr:
        """Create the matrix that a :class:`T` with ``csr`` describes."""
        elements = tensor.elements(key, dtype, edge)
        if tensor.values is not None:
            mask = elements != 0
        else:
            draws = uniform(f"{key} places", elements.size, 0, 1)
            mask = draws.reshape(elements.shape) < tensor.density
        starts = np.concatenate([[0], np.cumsum(mask.sum(axis=1))])
        columns = np.nonzero(mask)[1]
        return cls(
            starts.astype(tensor.csr), columns.astype(tensor.csr), elements[mask], elements.shape
        )

    def exact(self, dtype: str, wide: type[np.floating[Any]]) -> Csr:
        """Return the matrix with exact wide values, for references."""
        return self._replace(values=np.asarray(exact(self.values, dtype, wide)))

    def place(self, vendor: Vendor, dtype: str) -> Tensor:
        """Create a tensor of the vendor."""
        starts, columns = vendor.tensor(self.crow_indices), vendor.tensor(self.col_indices)
        values = vendor.tensor(self.values, dtype=dtype)
        return vendor.sparse_csr(starts, columns, values, self.shape)

    def is_in(self, tensor: Tensor) -> bool:
        """Return True if a tensor created by :meth:`place` is unchanged."""
        return all(
            part.numpy().tobytes() == getattr(self, name).tobytes()
            for name, part in tensor.parts.items()
        )
