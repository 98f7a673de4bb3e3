"""A number, and the dtype that goes into ``diopiScalar_t.stype``."""

from __future__ import annotations

from dataclasses import dataclass

from ..dtypes import Dtype, dtype_of


@dataclass(frozen=True)
class Scalar:
    """Passes a number with a dtype of its own choice.

    A plain ``bool``, ``int`` or ``float`` is passed as bool, int64 or float64.
    """

    value: bool | int | float
    dtype: Dtype | str

    def resolved(self) -> Dtype:
        """The dtype as an object.

        :raises ValueError: the contract has no such dtype.
        """
        return dtype_of(self.dtype)
