import math
import tracemalloc

import numpy as np
import pytest

from diopi_proto.tolerance import (
    OpClass,
    Order,
    allowed_error,
    bfloat16_to_float32,
    compare,
    float32_to_bfloat16,
    round_to,
)

CLASSES = [OpClass.ROUNDING, OpClass.ELEMENTARY, OpClass.REDUCTION, OpClass.MATMUL]
FLOATS = ["float16", "bfloat16", "float32", "float64"]


def spread(dtype, size=4000, seed=8):
    """Return float64 numbers over the range of ``dtype``, with powers of two and subnormals."""
    lowest, highest = {"float16": (-25, 15), "float64": (-1070, 1023)}.get(dtype, (-145, 127))
    rng = np.random.default_rng(seed)
    values = np.ldexp(rng.uniform(1, 2, size), rng.integers(lowest, highest, size))
    powers = np.ldexp(1.0, np.arange(max(lowest, -1020) + 30, highest))
    near = [powers, powers * (1 - 2.0**-9), powers * (1 - 2.0**-30), powers * (1 + 2.0**-30)]
    values = np.concatenate([values, *near])
    return values * rng.choice([-1, 1], values.size)


def one_ulp(values, dtype, direction):
    """Round ``values`` to ``dtype``, then move them to the next number up or down."""
    rounded = round_to(values, dtype)
    if dtype == "bfloat16":
        bits = float32_to_bfloat16(rounded)
        outwards = (rounded > 0) == (direction > 0)
        return np.where(outwards | (rounded == 0), bits + 1, bits - 1).astype(np.uint16)
    narrow = rounded.astype(dtype)
    return np.nextafter(narrow, narrow.dtype.type(direction * np.inf))


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op_class", CLASSES)
def test_one_ulp_everywhere_never_alarms(dtype, op_class, direction):
    reference = spread(dtype)
    outcome = compare(
        one_ulp(reference, dtype, direction), reference, dtype=dtype, op_class=op_class
    )
    assert outcome.ok, outcome.report(dtype)
    assert outcome.max_abs > 0


@pytest.mark.parametrize("dtype", ["complex32", "complex64", "complex128"])
@pytest.mark.parametrize("op_class", CLASSES)
def test_one_ulp_in_both_parts_never_alarms(dtype, op_class):
    part = {"complex32": "float16", "complex64": "float32"}.get(dtype, "float64")
    # Squares of the moduli must stay in range, so the outermost binades are excluded.
    real = spread(part)[:3000] / 4
    imag = spread(part, seed=9)[:3000] / 4
    result = np.empty(3000, "complex128" if dtype == "complex128" else "complex64")
    result.real, result.imag = one_ulp(real, part, 1), one_ulp(imag, part, -1)
    outcome = compare(result, real + 1j * imag, dtype=dtype, op_class=op_class)
    assert outcome.ok, outcome.report(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_three_ulp_are_wrong_after_one_rounding(dtype):
    reference = np.random.default_rng(1).uniform(1.1, 1.9, 100)
    result = round_to(reference, dtype).astype(dtype)
    result += result.dtype.type(3 * np.finfo(dtype).eps)
    assert compare(result, reference, dtype=dtype, op_class=OpClass.ROUNDING).wrong == 100


def test_the_allowance_of_a_comparison_is_that_of_allowed_error():
    reference = spread("float32", 200)
    magnitude = np.abs(reference) * 3
    lengths = np.arange(reference.size) % 50
    allowed = allowed_error(reference, "float32", OpClass.REDUCTION, lengths, magnitude)
    for factor, ok in [(0.999, True), (1.001, False)]:
        result = reference.copy()
        result[17] += factor * allowed[17]
        outcome = compare(
            round_to(result, "float32").astype(np.float32),
            reference,
            dtype="float32",
            op_class=OpClass.REDUCTION,
            reduction_length=lengths,
            magnitude=magnitude,
        )
        if not ok:
            assert outcome.worst == (17,)
            assert outcome.allowed == allowed[17]
        assert outcome.ok is ok or abs(outcome.ratio - 1) < 0.3


def test_the_worst_element_is_the_one_most_units_of_the_bound_away():
    reference = np.array([1000.0, 1e-3, 1.0])
    result = np.array([1000.5, 1.002e-3, 1.0], np.float32)
    outcome = compare(result, reference, dtype="float32", op_class=OpClass.ROUNDING)
    assert outcome.wrong == 2
    assert outcome.worst == (1,)
    assert outcome.max_abs == 0.5
    assert outcome.max_rel == pytest.approx(2e-3, rel=1e-3)


def test_the_worst_of_exact_elements_is_the_farthest_off_and_then_the_first():
    reference = np.zeros(100_000, np.int64)
    result = reference.copy()
    result[[5, 33_000, 40_000, 40_001, 90_000]] = [1, 1, 7, -7, 7]
    outcome = compare(result, reference, dtype="int64", op_class=OpClass.EXACT)
    assert outcome.wrong == 5
    assert outcome.worst == (40_000,)
    assert outcome.error == 7.0


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("sign", [1, -1])
def test_overflow_is_met_exactly_where_rounding_overflows(dtype, sign):
    largest = float(np.finfo(dtype).max)
    before = float(np.nextafter(np.finfo(dtype).max, np.zeros((), dtype)))
    threshold = largest + (largest - before) / 2
    below = float(np.nextafter(threshold, 0))

    def ok(want, got):
        with np.errstate(over="ignore"):
            result = np.array([sign * got], dtype)
        reference = np.array([sign * want])
        return compare(result, reference, dtype=dtype, op_class=OpClass.ROUNDING).ok

    assert ok(threshold, np.inf) and not ok(threshold, largest)
    assert ok(below, largest) and not ok(below, np.inf)
    assert ok(threshold * 10, np.inf) and not ok(threshold * 10, largest)


def test_an_error_before_rounding_may_carry_a_result_across_overflow():
    largest = float(np.finfo(np.float32).max)
    below = largest - 2 * 2.0**104
    infinite = np.array([np.inf], np.float32)
    far = largest - 9 * 2.0**104
    for want, ok in [(below, True), (far, False)]:
        outcome = compare(infinite, np.array([want]), dtype="float32", op_class=OpClass.ELEMENTARY)
        assert outcome.ok is ok


def test_an_error_before_rounding_may_keep_a_result_from_overflow():
    largest = np.finfo(np.float32).max
    result = np.array([largest], np.float32)
    for want, ok in [(2.0**128, True), (2.0**128 + 9 * 2.0**104, False)]:
        outcome = compare(result, np.array([want]), dtype="float32", op_class=OpClass.ELEMENTARY)
        assert outcome.ok is ok


def test_exact_operators_round_their_reference():
    reference = np.array([1 + 2.0**-11, 1 + 3 * 2.0**-11, 1e-9, 65519.0, 65520.0, np.nan])
    result = np.array([1, 1 + 2.0**-9, 0, 65504, np.inf, np.nan], np.float16)
    assert compare(result, reference, dtype="float16", op_class=OpClass.EXACT).ok


def test_exact_operators_take_references_of_their_own_dtype():
    values = np.random.default_rng(0).standard_normal(100).astype(np.float32)
    outcome = compare(values.copy(), values, dtype="float32", op_class=OpClass.EXACT)
    assert outcome.ok and outcome.max_abs == 0.0


def test_zeros_are_equal_whatever_their_signs():
    outcome = compare(
        np.array([-0.0, 0.0], np.float32),
        np.array([0.0, -0.0]),
        dtype="float32",
        op_class=OpClass.EXACT,
    )
    assert outcome.ok


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "bfloat16"])
def test_nan_and_infinities_at_the_same_places_agree(dtype):
    reference = np.array([np.nan, np.inf, -np.inf, 1.0])
    bits = float32_to_bfloat16(reference)
    result = bits if dtype == "bfloat16" else reference.astype(dtype)
    outcome = compare(result, reference, dtype=dtype, op_class=OpClass.ROUNDING)
    assert outcome.ok
    assert outcome.max_abs == 0.0
    assert math.isnan(outcome.cosine)


def test_every_pattern_of_bfloat16_agrees_with_itself_in_both_carriers():
    bits = np.arange(0x10000, dtype=np.uint32).astype(np.uint16)
    values = bfloat16_to_float32(bits)
    with np.errstate(invalid="ignore"):
        reference = values.astype(np.float64)
    for result in (bits, values):
        outcome = compare(result, reference, dtype="bfloat16", op_class=OpClass.ROUNDING)
        assert outcome.ok and outcome.total == 0x10000
        assert outcome.max_abs == 0.0


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex128", "bfloat16"])
@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 0, 2)])
def test_empty_results_agree_and_say_that_nothing_was_compared(dtype, shape):
    kind = {"int64": np.int64, "bool": np.bool_, "complex128": np.complex128}.get(dtype, np.float64)
    result = np.zeros(shape, "uint16" if dtype == "bfloat16" else dtype)
    outcome = compare(result, np.zeros(shape, kind), dtype=dtype, op_class=OpClass.ROUNDING)
    assert outcome.ok and outcome.total == 0 and outcome.worst is None
    assert all(map(math.isnan, (outcome.max_abs, outcome.max_rel, outcome.cosine)))


@pytest.mark.parametrize(
    ("dtype", "want", "got"),
    [
        ("float32", 2.0, 2.0),
        ("int64", 7, 7),
        ("bool", True, True),
        ("complex64", 1 + 2j, 1 + 2j),
    ],
)
def test_results_without_dimensions(dtype, want, got):
    outcome = compare(np.array(got, dtype), np.array(want), dtype=dtype, op_class=OpClass.ROUNDING)
    assert outcome.ok and outcome.total == 1
    assert outcome.worst == ()
    assert outcome.got == got and outcome.want == want


def test_integers_need_not_have_the_reference_s_width():
    reference = np.array([0, 255, 17], np.int64)
    outcome = compare(reference.astype(np.uint8), reference, dtype="uint8", op_class=OpClass.EXACT)
    assert outcome.ok
    large = np.array([2**63 + 5, 2**64 - 1], np.uint64)
    assert compare(large, large, dtype="uint64", op_class=OpClass.EXACT).ok


def test_measures_of_two_known_vectors():
    outcome = compare(
        np.array([3.0, 0.0, 5.0], np.float32),
        np.array([0.0, 4.0, 5.0]),
        dtype="float32",
        op_class=OpClass.ROUNDING,
    )
    assert outcome.max_abs == 4.0
    assert outcome.max_rel == math.inf
    assert outcome.cosine == pytest.approx(25 / (math.sqrt(34) * math.sqrt(41)))


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e200, 1e300])
def test_cosine_survives_numbers_whose_squares_do_not(scale):
    reference = np.array([1.0, 2.0, -2.0]) * scale
    outcome = compare(-reference, reference, dtype="float64", op_class=OpClass.ROUNDING)
    assert outcome.cosine == pytest.approx(-1.0, abs=1e-3 if scale < 1e-300 else 1e-12)


def test_cosine_of_numbers_that_grow_from_piece_to_piece():
    reference = np.ldexp(1.0, np.arange(200_000) // 66_000)
    result = reference * np.where(np.arange(200_000) % 2, 1.0, -1.0)
    outcome = compare(result, reference, dtype="float64", op_class=OpClass.ROUNDING)
    assert abs(outcome.cosine) < 1e-9
    shifted = np.ldexp(reference, -(np.arange(200_000) % 3))
    outcome = compare(shifted, reference, dtype="float64", op_class=OpClass.ROUNDING)
    exact = np.dot(shifted, reference) / np.linalg.norm(shifted) / np.linalg.norm(reference)
    assert outcome.cosine == pytest.approx(exact, rel=1e-9)


def test_cosine_of_a_zero_vector_is_undefined():
    zero = np.zeros(5)
    outcome = compare(zero, zero, dtype="float64", op_class=OpClass.ROUNDING)
    assert outcome.ok
    assert math.isnan(outcome.cosine) and math.isnan(outcome.max_rel)
    assert outcome.max_abs == 0.0


def test_memory_beyond_the_arrays_stays_small():
    reference = np.ones(3_000_000)
    result = np.ones(6_000_000, np.float32)[::2]
    tracemalloc.start()
    outcome = compare(
        result, reference, dtype="float32", op_class=OpClass.MATMUL, magnitude=reference
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert outcome.ok
    assert peak < reference.nbytes / 2


def test_longdouble_references_are_used_in_full():
    if np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("longdouble is float64 here")
    exact = np.longdouble(1) + np.longdouble(2) ** -53 + np.longdouble(2) ** -60
    reference = np.full(4, exact, np.longdouble)
    result = np.full(4, 1.0)
    outcome = compare(result, reference, dtype="float64", op_class=OpClass.EXACT)
    assert outcome.wrong == 4
    right = np.nextafter(result, 2)
    assert compare(right, reference, dtype="float64", op_class=OpClass.EXACT).ok


def test_random_results_are_sent_elsewhere():
    with pytest.raises(ValueError, match="compare_distribution"):
        compare(np.ones(1, np.float32), np.ones(1), dtype="float32", op_class=OpClass.RANDOM)


def test_the_order_of_a_scan_widens_the_bound():
    terms = np.full((1, 50_000), 0.1, np.float32)
    lengths = np.arange(1, 50_001).reshape(terms.shape)
    arguments = dict(dtype="float32", op_class=OpClass.REDUCTION, reduction_length=lengths)
    reference = np.cumsum(terms.astype(np.float64), 1)
    result = np.cumsum(terms, 1)
    assert compare(result, reference, order=Order.ANY, **arguments).ok
    assert not compare(result, reference, order=Order.PAIRWISE, **arguments).ok


@pytest.mark.parametrize("op_class", [OpClass.EXACT, OpClass.ROUNDING])
@pytest.mark.parametrize("dtype", FLOATS)
def test_zeros_have_signs_where_it_is_asked_for(dtype, op_class):
    reference = np.array([0.0, -0.0, -1e-320 if dtype != "float64" else -0.0, 1.0])
    right, wrong = reference, np.array([0.0, 0.0, 0.0, 1.0])
    if dtype == "bfloat16":
        right, wrong = float32_to_bfloat16(right), float32_to_bfloat16(wrong)
    else:
        right, wrong = right.astype(dtype), wrong.astype(dtype)
    options = {"dtype": dtype, "op_class": op_class}
    assert compare(wrong, reference, **options).ok
    assert compare(right, reference, signed_zeros=True, **options).ok
    outcome = compare(wrong, reference, signed_zeros=True, **options)
    assert outcome.wrong == 2
    assert "with the sign of zeros" in outcome.report("x")


def test_integers_have_no_signed_zeros():
    zeros = np.zeros(2, np.int32)
    assert compare(zeros, zeros, dtype="int32", op_class=OpClass.EXACT, signed_zeros=True).ok
