"""Sparse CSR tensors of a call: three arrays in place of one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from diopi_proto import Tensor, Vendor

from .case import T
from .inputs import Array, exact, uniform


class Csr(NamedTuple):
    """The elements that a sparse matrix holds, row by row.

    :ivar crow_indices: where the elements of each row begin, and where the last row's end.
    :ivar col_indices: the column of each element.
    :ivar values: as the dtype stores them; for references, what they mean.
    :ivar shape: rows and columns.
    """

    crow_indices: Array
    col_indices: Array
    values: Array
    shape: tuple[int, ...]

    @classmethod
    def of(cls, tensor: T, key: str, dtype: str, edge: str) -> Csr:
        """Of a :class:`T` with ``csr``."""
        elements = tensor.elements(key, dtype, edge)
        if tensor.values is not None:
            held = elements != 0
        else:
            places = uniform(f"{key} places", elements.size, 0, 1)
            held = places.reshape(elements.shape) < tensor.density
        starts = np.concatenate([[0], np.cumsum(held.sum(axis=1))])
        columns = np.nonzero(held)[1]
        return cls(
            starts.astype(tensor.csr), columns.astype(tensor.csr), elements[held], elements.shape
        )

    def exact(self, dtype: str, wide: type[np.floating[Any]]) -> Csr:
        """What a reference gets."""
        return self._replace(values=np.asarray(exact(self.values, dtype, wide)))

    def place(self, vendor: Vendor, dtype: str) -> Tensor:
        """A tensor of the vendor."""
        starts, columns = vendor.tensor(self.crow_indices), vendor.tensor(self.col_indices)
        values = vendor.tensor(self.values, dtype=dtype)
        return vendor.sparse_csr(starts, columns, values, self.shape)

    def is_in(self, tensor: Tensor) -> bool:
        """Whether a tensor that was made of it still holds this."""
        return all(
            part.numpy().tobytes() == getattr(self, name).tobytes()
            for name, part in tensor.parts.items()
        )
