"""Tolerances of a whole reference array."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .bound import Bound
from .formats import Array, format_of
from .operands import Operands
from .operators import OpClass, Order


def allowed_error(
    reference: ArrayLike,
    dtype: DTypeLike,
    op_class: OpClass,
    reduction_length: ArrayLike = 1,
    magnitude: ArrayLike | None = None,
    *,
    order: Order = Order.BLOCKED,
    accumulate: DTypeLike | None = None,
    multiple: float | None = None,
    roundings: int = 0,
) -> Array:
    """Return the allowed absolute error of each element of a result of ``dtype``, as float64.

    ``reference`` is float64 or longdouble, or complex of these. ``reduction_length`` and
    ``magnitude`` are scalars or have its shape. ``magnitude`` is the sum of the absolute values of
    the summands; the default is the absolute value of the reference, which is correct without
    cancellation and too strict with it. Elements that are not finite get 0, because they must match
    exactly, and so do all elements of exact operators or dtypes, whose reference is rounded first.

    Processes the whole array at once; :func:`compare` processes it in pieces.

    :param order: see :class:`Order`.
    :param accumulate: see :meth:`Bound.of`, as ``multiple`` and ``roundings``.
    :raises ValueError: see :meth:`Bound.of`; a shape that does not fit; a negative length; a
        magnitude that is negative or not finite.
    :raises TypeError: the reference is not of a dtype named above.
    """
    operands = Operands(np.asarray(reference), format_of(dtype), reduction_length, magnitude)
    operands.require_reference(op_class)
    bound = Bound.of(
        dtype,
        op_class,
        reference=operands.working,
        order=order,
        accumulate=accumulate,
        multiple=multiple,
        roundings=roundings,
    )
    if bound.op_class is OpClass.EXACT:
        return np.zeros(operands.reference.shape)
    with np.errstate(all="ignore"):
        sizes = operands.sizes(operands.reference, operands.magnitude)
        allowed, _ = bound.allowed(sizes.modulus, sizes.scale, operands.terms)
    return np.asarray(np.where(sizes.finite, allowed, 0.0), dtype=np.float64)
