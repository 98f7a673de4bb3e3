"""Elementwise comparison of a result with its reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .bound import Bound
from .carriers import ForeignValueError, decode, open_carrier
from .comparison import Comparison, Number
from .exact import integer_errors
from .formats import Array, Format, format_of, part_format
from .operands import Operands
from .operators import OpClass, Order
from .peer import NO_PEER, Peer, open_peer
from .tally import Tally


def compare(
    actual: ArrayLike,
    reference: ArrayLike,
    *,
    dtype: DTypeLike,
    op_class: OpClass,
    reduction_length: ArrayLike = 1,
    magnitude: ArrayLike | None = None,
    peer: ArrayLike | None = None,
    order: Order = Order.BLOCKED,
    accumulate: DTypeLike | None = None,
    multiple: float | None = None,
    roundings: int = 0,
    signed_zeros: bool = False,
) -> Comparison:
    """Compare ``actual``, a result of ``dtype``, with ``reference``; every element must pass.

    Shape and dtype must be equal; nothing is broadcast. A nan must match a nan, and an infinity one
    of the same sign; for a finite reference, infinity is accepted only where rounding may overflow.
    Zeros are equal regardless of their signs, unless ``signed_zeros`` is set: then a zero must have
    the sign of the reference if the reference is zero or rounds to zero. Complex results are
    compared by the modulus of the difference; their non-finite parts and signs of zeros are
    compared separately.

    For bfloat16, ``actual`` is uint16 (bit patterns) or float32 with values of bfloat16; for
    complex32 it is complex64 with values of complex32. ``reference`` is computed from the same
    inputs and is float64 or longdouble, or complex of these; for an EXACT operator any float; for
    integers and bool it is integer and bool, too.

    ``peer`` is a trusted implementation's result of the same dtype and shape. It increases the
    allowed error of each element by twice the smaller of two values: the peer's largest relative
    error times the element's magnitude, and the peer's largest absolute error. Where the peer is
    not finite, an identical result is accepted. The peer is ignored for exact operators.

    Arrays are processed in pieces, with a few MB of temporary memory. The other arguments, and the
    errors raised for them, are those of :func:`allowed_error`.

    :raises ValueError: the class is RANDOM, an argument is out of range, or the peer has another
        shape or dtype.
    :raises TypeError: ``reference`` is of another kind than ``dtype``, or not more precise.
    """
    of = format_of(dtype)
    result = np.asarray(actual)
    operands = Operands(np.asarray(reference), of, reduction_length, magnitude)
    operands.require_reference(op_class)
    bound = Bound.of(
        of,
        op_class,
        reference=operands.working,
        order=order,
        accumulate=accumulate,
        multiple=multiple,
        roundings=roundings,
    )
    shape = operands.reference.shape
    if result.shape != shape:
        return _incomparable("shape", f"shape is {result.shape}, want {shape}", operands)
    opened = open_carrier(result, of)
    if opened is None:
        return _incomparable("dtype", f"dtype is {result.dtype}, want {of.name}", operands)
    try:
        with np.errstate(all="ignore"):
            return _compare(
                opened, operands, bound, None if peer is None else np.asarray(peer), signed_zeros
            )
    except ForeignValueError as error:
        return _incomparable("dtype", str(error), operands)


def _incomparable(mismatch: str, detail: str, operands: Operands) -> Comparison:
    total = operands.reference.size
    return Comparison(ok=False, total=total, wrong=total, mismatch=mismatch, detail=detail)


def _compare(
    result: Array, operands: Operands, bound: Bound, peer: Array | None, signed_zeros: bool
) -> Comparison:
    of, total = operands.dtype, operands.reference.size
    signed = ", with the sign of zeros" if signed_zeros and not of.is_exact else ""
    empty = Comparison(ok=True, total=0, wrong=0, bound=bound.formula(operands.terms) + signed)
    tally, judge = Tally(), _Judge(operands, bound, signed_zeros)
    results = [result]
    if peer is not None and bound.op_class is not OpClass.EXACT:
        results.append(open_peer(peer, operands))
    if total == 0:
        return empty
    if len(results) > 1:
        judge.peer = Peer.measure(results[1], operands)
    for offset, (reference, magnitude, terms, *values) in operands.pieces(*results):
        if of.is_exact:
            error = integer_errors(values[0], reference)
            modulus = np.abs(reference.astype(np.float64))
            tally.cosine.add(values[0].astype(np.float64), reference.astype(np.float64))
            tally.add(offset, error, np.zeros_like(error), error > 0, modulus, np.isfinite(modulus))
        else:
            judge.add(tally, offset, reference, magnitude, terms, [decode(v, of) for v in values])
    index = np.unravel_index(tally.offset, operands.reference.shape)
    return replace(
        empty,
        ok=tally.wrong == 0,
        total=total,
        wrong=tally.wrong,
        worst=tuple(int(i) for i in index),
        got=_number(decode(result[index].reshape(1), of), of),
        want=_number(operands.reference[index].reshape(1), of),
        error=tally.error,
        allowed=tally.allowed,
        ratio=tally.ratio,
        max_abs=tally.max_abs,
        max_rel=tally.max_rel,
        cosine=tally.cosine.value(),
        bound=empty.bound + (judge.peer.formula() if judge.peer is not NO_PEER else ""),
        peer_relative=judge.peer.relative,
        peer_absolute=judge.peer.absolute,
        excused=judge.excused,
    )


def _number(one: Array, of: Format) -> Number:
    value = one[0].item()
    if of.name == "bool":
        return bool(value) if value in (0, 1) else int(value)
    if of.is_exact:
        return int(value)
    return complex(value) if of.is_complex else float(value)


class _Judge:
    """Errors and tolerances of floating-point pieces."""

    def __init__(self, operands: Operands, bound: Bound, signed_zeros: bool) -> None:
        self.operands = operands
        self.bound = bound
        self.signed_zeros = signed_zeros
        self.part = part_format(operands.dtype)
        self.threshold = self.part.overflow_threshold(operands.working)
        self.peer = NO_PEER
        self.excused = 0

    def add(
        self,
        tally: Tally,
        offset: int,
        reference: Array,
        magnitude: Array,
        terms: Array,
        values: list[Array],
    ) -> None:
        """Compare one piece; ``values`` are the result's and, if there is a peer, the peer's."""
        operands, exact = self.operands, self.bound.op_class is OpClass.EXACT
        sizes = operands.sizes(reference, magnitude)
        allowed, before_rounding = self.bound.allowed(sizes.modulus, sizes.scale, terms)
        if self.peer is not NO_PEER:
            allowed = allowed + self.peer.allowed(sizes)
        error: Array = np.zeros_like(sizes.modulus)
        bad = np.zeros(error.shape, dtype=np.bool_)
        excused = np.zeros_like(bad)
        parts = [operands.parts(value) for value in values]
        for at, want in enumerate(operands.parts(reference)):
            got = parts[0][at]
            tally.cosine.add(got, want)
            distance, wrong = self._part(
                got, self.part.round(want) if exact else want, before_rounding
            )
            if self.peer is not NO_PEER:
                as_peer = wrong & ~np.isfinite(got) & _same(got, parts[1][at])
                excused |= as_peer
                wrong = wrong & ~as_peer
            error = np.hypot(error, distance) if at else distance
            bad |= wrong
        self.excused += int(np.count_nonzero(excused))
        error = np.where(bad, np.inf, error)
        tally.add(
            offset,
            error.astype(np.float64),
            allowed.astype(np.float64),
            bad | (error > allowed),
            sizes.modulus.astype(np.float64),
            sizes.finite,
        )

    def _part(self, got: Array, want: Array, before_rounding: Array) -> tuple[Array, Array]:
        """Return ``(distance, wrong)``; if a value is not finite, the distance is 0."""
        got_finite, want_finite = np.isfinite(got), np.isfinite(want)
        both = got_finite & want_finite
        size = np.abs(want)
        distance = np.where(both, np.abs(got - want), 0)
        may_overflow = want_finite & (size + before_rounding >= self.threshold)
        must_overflow = want_finite & (size - before_rounding >= self.threshold)
        overflowed = may_overflow & np.isinf(got) & (np.signbit(got) == np.signbit(want))
        wrong = ~both & ~_same(got, want) & ~overflowed
        if self.signed_zeros and (got == 0).any():
            other_sign = np.signbit(got) != np.signbit(want)
            wrong |= (got == 0) & (self.part.round(want) == 0) & other_sign
        return distance, wrong | (must_overflow & got_finite)


def _same(left: Array, right: Array) -> Array:
    same: Array = (left == right) | (np.isnan(left) & np.isnan(right))
    return same
