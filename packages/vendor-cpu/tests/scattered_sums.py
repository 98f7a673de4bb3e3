"""The gradient of reading at positions: what was read from one place is added up there."""

from __future__ import annotations

from typing import Any

import numpy as np

from referenced import Expected
from support import Array


def summed(shape: tuple[int, ...], places: Any, terms: Array) -> Expected:
    """Zeros to which terms are added at places."""
    value, size = np.zeros(shape, terms.dtype), np.zeros(shape, np.longdouble)
    np.add.at(value, places, terms)
    np.add.at(size, places, np.abs(terms))
    return Expected(value, terms.size, size)
