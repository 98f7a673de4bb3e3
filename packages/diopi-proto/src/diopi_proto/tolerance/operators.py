"""Properties of operators that the bound depends on: class, and order of sums."""

from __future__ import annotations

from enum import Enum

import numpy as np
from numpy.typing import NDArray

BLOCK = 4096
"""Number of terms that an operator may add up in any order: ``sqrt(1 / u)`` of float32.

With this number of terms, dropping one term of average size exceeds the bound of a float32 sum.
"""

LARGEST_MULTIPLE = 16.0
"""Largest multiple of any operator: the largest entry of the OpenCL C specification's ulp table."""

TERM_ROUNDINGS = 8
"""Unit roundoffs allowed for each term of a REDUCTION, to cover one elementary function
of 4 ulp."""

PRODUCT_ROUNDINGS = 4
"""Roundings of each term of a MATMUL in addition to the sum: product, alpha, beta, bias."""


class OpClass(Enum):
    """Class of an operator, which determines its rounding error.

    - ``EXACT``: moves, selects, compares or converts values; the result is the rounded reference.
    - ``ROUNDING``: one rounding, as add, mul, div, sqrt.
    - ``ELEMENTARY``: elementwise functions that a libm approximates, as exp, log, tanh, gelu.
    - ``REDUCTION``: a sum of ``reduction_length`` terms, each from at most one elementary function.
    - ``MATMUL``: inner products of length ``reduction_length``, as matmul, convolution, attention.
    - ``RANDOM``: has no elementwise reference; see :func:`compare_distribution`.
    """

    EXACT = "exact"
    ROUNDING = "rounding"
    ELEMENTARY = "elementary"
    REDUCTION = "reduction"
    MATMUL = "matmul"
    RANDOM = "random"

    @property
    def multiple(self) -> float:
        """Return the class's multiple: ulps for ELEMENTARY, gammas for REDUCTION and MATMUL, else
        0.
        """
        return {OpClass.ELEMENTARY: 4.0, OpClass.REDUCTION: 1.0, OpClass.MATMUL: 1.0}.get(self, 0.0)


class Order(Enum):
    """Summation orders that an operator's definition allows. The height of the summation tree
    bounds the error.

    - ``BLOCKED``: any order within blocks of at most ``BLOCK`` terms, any order of the blocks.
    - ``ANY``: sequential summation of any number of terms, as in a scan.
    - ``PAIRWISE``: a balanced tree.
    """

    BLOCKED = "blocked"
    ANY = "any"
    PAIRWISE = "pairwise"

    def height(self, terms: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the additions on the longest path from a term to a sum of ``terms`` terms,
        elementwise.
        """
        count = np.maximum(terms, 1)
        if self is Order.ANY:
            return count - 1
        if self is Order.PAIRWISE:
            return np.ceil(np.log2(count)).astype(np.int64)
        blocks = -(-count // BLOCK)
        height: NDArray[np.int64] = np.minimum(count, BLOCK) - 1 + blocks - 1
        return height
