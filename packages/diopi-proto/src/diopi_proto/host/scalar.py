"""Scalars with an explicit dtype."""

from __future__ import annotations

from dataclasses import dataclass

from ..dtypes import Dtype, dtype_of


@dataclass(frozen=True)
class Scalar:
    """Scalar with an explicit dtype for ``diopiScalar_t.stype``.

    A plain ``bool``, ``int`` or ``float`` is passed as bool, int64 or float64.
    """

    value: bool | int | float
    dtype: Dtype | str

    def resolved(self) -> Dtype:
        """Return the dtype as an object.

        :raises ValueError: the contract has no such dtype.
        """
        return dtype_of(self.dtype)
