"""Parameter of a search space: its name and its possible values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import SpaceError

Value = int | float | str | bool
Config = Mapping[str, Value]
"""Value of each parameter by name."""


def plain(value: Any) -> Any:
    """Convert a NumPy scalar to the equal Python number, which a database can store."""
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True)
class Parameter:
    """Dimension of a search space.

    :ivar name: a Python identifier, because constraints refer to it.
    :ivar values: numbers, texts or booleans; the order is the caller's.
    :raises SpaceError: the name is not an identifier, or values are missing, duplicate, or of a
    type that a database cannot store.
    """

    name: str
    values: tuple[Value, ...]

    def __init__(self, name: str, values: Iterable[Value]) -> None:
        if not isinstance(name, str) or not name.isidentifier():
            raise SpaceError(f"[space] parameter {name!r}: the name is not an identifier")
        if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
            raise SpaceError(
                f"[space] parameter {name}: {values!r} is not a list of values; write [{values!r}]"
                " if it is the only one"
            )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "values", tuple(map(plain, values)))
        if not self.values:
            raise SpaceError(f"[space] parameter {name}: there are no values")
        seen: set[Value] = set()
        for value in self.values:
            if not isinstance(value, (int, float, str, bool)):
                raise SpaceError(
                    f"[space] parameter {name}: {value!r} is neither a number nor a text"
                )
            if isinstance(value, float) and not math.isfinite(value):
                raise SpaceError(f"[space] parameter {name}: {value!r} is not finite")
            if value in seen:
                raise SpaceError(f"[space] parameter {name}: {value!r} is given twice")
            seen.add(value)

    @property
    def numeric(self) -> bool:
        """True if all values are numbers, so that they have an order."""
        return all(isinstance(value, (int, float)) for value in self.values)

    @property
    def logarithmic(self) -> bool:
        """True if the values are on a logarithmic scale, as tile sizes are: positive, and spanning
        a factor of 4 or more.
        """
        if not self.numeric:
            return False
        numbers = [float(value) for value in self.values]
        return min(numbers) > 0 and max(numbers) >= 4 * min(numbers)
