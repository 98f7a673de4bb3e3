"""Comparison engine: derived tolerances of results, and comparison with references.

The tolerance of an element is derived from dtype, operator class and reduction length; it is not a
parameter. ``docs/tolerance.md`` has the formulas and their sources. Depends on numpy only, except
for :mod:`.torch_operators`, which applies the engine to operators of torch.

    >>> import numpy as np
    >>> from diopi_proto.tolerance import OpClass, compare
    >>> x = np.linspace(-3, 3, 28, dtype=np.float32).reshape(4, 7)
    >>> y = np.exp(x)
    >>> y[2, 5] += 1e-5
    >>> reference = np.exp(x.astype(np.float64))
    >>> outcome = compare(y, reference, dtype="float32", op_class=OpClass.ELEMENTARY)
    >>> outcome.ok, outcome.wrong, outcome.worst
    (False, 1, (2, 5))
"""

from __future__ import annotations

from .allowed import allowed_error
from .bfloat16 import bfloat16_to_float32, float32_to_bfloat16
from .bound import Bound
from .compare import compare
from .comparison import Comparison
from .distribution import DistributionComparison, compare_distribution
from .formats import round_to, unit_roundoff
from .magnitude import matmul_magnitude, sum_magnitude
from .operators import OpClass, Order

__all__ = [
    "Bound",
    "Comparison",
    "DistributionComparison",
    "OpClass",
    "Order",
    "allowed_error",
    "bfloat16_to_float32",
    "compare",
    "compare_distribution",
    "float32_to_bfloat16",
    "matmul_magnitude",
    "round_to",
    "sum_magnitude",
    "unit_roundoff",
]
