"""The comparison of a result with its reference, element by element."""

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

    Shape and dtype have to be equal, nothing is broadcast. nan must meet nan and an infinity one
    of its sign; a finite reference may be met by infinity exactly where rounding overflows. The
    zeros are equal whatever their signs, unless ``signed_zeros``: then a zero has to have the sign
    of the reference, where that is or rounds to zero. Complex results are judged by the modulus of
    the difference, parts that are not finite, and signs of zeros, one by one.

    ``actual`` of bfloat16 is uint16 (bit patterns) or float32 with bfloat16's values; of complex32,
    complex64 with such. ``reference`` is float64 or longdouble (complex of these) computed from the
    same inputs; of an EXACT operator any float; of integers and bool likewise integers and bool.

    ``peer`` is a trusted implementation's result of the same dtype and shape. With it each element
    may be off by the bound plus twice the smaller of the peer's largest error relative to magnitude
    times the element's magnitude, and the peer's largest absolute error. Where the peer is not
    finite, the result may be exactly the same. Exact operators need no peer: none is looked at.

    Arrays are walked in pieces; memory beyond them is a few MB. The other arguments are those of
    :func:`allowed_error`, and so are the errors raised for them.

    :raises ValueError: RANDOM; arguments out of range; peer of another shape or dtype.
    :raises TypeError: ``reference`` is of another kind than ``dtype``, or no better than it.
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
    """Errors and allowances of floating-point pieces."""

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
        """Judge one piece; ``values`` are the result's and, if there is one, the peer's."""
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
        """``(distance, wrong)``: 0 and a verdict where one of the two is not finite."""
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
