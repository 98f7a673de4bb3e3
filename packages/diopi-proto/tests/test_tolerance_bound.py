import numpy as np
import pytest

from diopi_proto.tolerance import Bound, OpClass, Order, allowed_error, compare, round_to
from diopi_proto.tolerance.operators import BLOCK

FLOATS = ["float16", "bfloat16", "float32", "float64"]
ROUNDING_CLASSES = [OpClass.ROUNDING, OpClass.ELEMENTARY, OpClass.REDUCTION, OpClass.MATMUL]
U32 = 2.0**-24


def compare_exactly(values, reference, dtype, roundings):
    carrier = {"bfloat16": "float32"}.get(dtype, dtype)
    return compare(
        values.astype(carrier), reference, dtype=dtype, op_class=OpClass.EXACT, roundings=roundings
    )


def near(value, rel=1e-6):
    """Relative comparison: pytest's default absolute tolerance is larger than these numbers."""
    return pytest.approx(value, rel=rel, abs=0)


def test_rounding_allows_one_and_a_half_ulp_and_hardly_more():
    allowed = allowed_error(np.array([1.0, -3.0, 1024.0]), "float32", OpClass.ROUNDING)
    assert allowed == near(1.5 * np.array([2.0**-23, 2.0**-22, 2.0**-13]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_what_moves_values_through_a_narrower_step_is_held_to_rounding(dtype):
    """The bound of a value that was rounded twice is not 0; without roundings it stays 0."""
    values = np.linspace(1.0, 2.0, 4097)
    twice = round_to(round_to(values, dtype) * (1 + 2.0**-40), dtype)
    assert compare_exactly(twice, values, dtype, roundings=1).ok
    assert np.all(allowed_error(values, dtype, OpClass.EXACT) == 0)
    ulp = 2.0 ** {"float16": -10, "bfloat16": -7, "float32": -23}[dtype]
    off = round_to(values, dtype)
    off[7] += 4 * ulp
    assert not compare_exactly(off, values, dtype, roundings=1).ok
    near_by = round_to(values, dtype)
    near_by[7] += ulp
    assert not compare_exactly(near_by, values, dtype, roundings=0).ok


def test_integers_stay_exact_however_often_they_are_converted():
    assert Bound.of("int32", OpClass.EXACT, roundings=3).op_class is OpClass.EXACT


def test_the_reference_s_own_rounding_is_allowed_to_results_of_its_dtype():
    ulp = 2.0**-52
    same = allowed_error(np.array([1.0]), "float64", OpClass.ROUNDING)[0]
    finer = allowed_error(np.ones(1, np.longdouble), "float64", OpClass.ROUNDING)[0]
    assert same == near(2.0 * ulp)
    if np.finfo(np.longdouble).nmant > 52:
        assert 1.5 * ulp <= finer < 1.51 * ulp


def test_elementary_adds_four_ulp_of_the_accumulation_format():
    wide = allowed_error(np.array([1.0]), "float32", OpClass.ELEMENTARY)[0]
    half = allowed_error(np.array([1.0]), "float16", OpClass.ELEMENTARY)[0]
    assert wide == near(5.5 * 2.0**-23)
    assert half == near(1.5 * 2.0**-10 + 4 * 2.0**-23)


def test_elementary_follows_the_magnitude_of_what_cancelled():
    allowed = allowed_error(np.array([1e-6]), "float32", OpClass.ELEMENTARY, magnitude=1.0)[0]
    assert 4 * 2.0**-23 < allowed < 4.1 * 2.0**-23


@pytest.mark.parametrize("op_class", [OpClass.REDUCTION, OpClass.MATMUL])
def test_sums_are_allowed_gamma_times_magnitude(op_class):
    roundings = {OpClass.REDUCTION: 99 + 8, OpClass.MATMUL: 99 + 4}[op_class]
    reference, magnitude = np.array([0.0, 1e-3]), np.array([50.0, 7.0])
    allowed = allowed_error(reference, "float32", op_class, 100, magnitude)
    gamma = roundings * U32 / (1 - roundings * U32)
    assert allowed == near(gamma * magnitude, rel=1e-5)


def test_sixteen_bit_sums_are_accumulated_in_float32():
    claimed = allowed_error(np.array([1.0]), "float16", OpClass.REDUCTION, 100)[0]
    asked = allowed_error(np.array([1.0]), "float16", OpClass.REDUCTION, 100, accumulate="float16")
    assert claimed < 1.6 * 2.0**-10
    assert asked[0] > 100 * 2.0**-11


def test_every_element_may_have_its_own_length():
    lengths = np.array([1, 10, 1000])
    each = allowed_error(np.ones(3), "float32", OpClass.REDUCTION, lengths)
    for at, length in enumerate(lengths):
        single = allowed_error(np.ones(1), "float32", OpClass.REDUCTION, int(length))
        assert each[at] == single[0]


@pytest.mark.parametrize(
    ("order", "terms", "height"),
    [
        (Order.ANY, 10**6, 10**6 - 1),
        (Order.PAIRWISE, 10**6, 20),
        (Order.PAIRWISE, 1, 0),
        (Order.BLOCKED, 0, 0),
        (Order.BLOCKED, 1, 0),
        (Order.BLOCKED, BLOCK, BLOCK - 1),
        (Order.BLOCKED, BLOCK + 1, BLOCK),
        (Order.BLOCKED, 10**6, BLOCK - 1 + 244),
    ],
)
def test_height_of_the_summation_tree(order, terms, height):
    assert order.height(np.asarray(terms)) == height


def test_a_dropped_term_of_average_size_exceeds_the_bound_up_to_a_block():
    for terms in (2, 100, 1000, BLOCK - 20):
        allowed = allowed_error(np.array([float(terms)]), "float32", OpClass.REDUCTION, terms)
        assert allowed[0] < 1.0


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op_class", ROUNDING_CLASSES)
def test_zero_and_subnormals_may_be_off_by_a_spacing(dtype, op_class):
    smallest = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149}
    step = smallest.get(dtype, 2.0**-1074)
    allowed = allowed_error(np.array([0.0, step, 3 * step]), dtype, op_class)
    assert np.all(allowed >= step)
    assert np.all(allowed <= 20 * step)


@pytest.mark.parametrize("op_class", ROUNDING_CLASSES)
def test_what_is_not_finite_is_allowed_nothing(op_class):
    allowed = allowed_error(np.array([np.nan, np.inf, -np.inf, 1.0]), "float32", op_class)
    np.testing.assert_array_equal(allowed[:3], 0)
    assert allowed[3] > 0


@pytest.mark.parametrize("dtype", ["int32", "bool", "uint8"])
def test_exact_dtypes_are_allowed_nothing_whatever_the_class(dtype):
    reference = np.ones((2, 3), np.bool_ if dtype == "bool" else np.int64)
    np.testing.assert_array_equal(
        allowed_error(reference, dtype, OpClass.MATMUL, 5), np.zeros((2, 3))
    )


def test_exact_operators_are_allowed_nothing():
    np.testing.assert_array_equal(allowed_error(np.ones(4), "float16", OpClass.EXACT), np.zeros(4))


def test_complex_is_judged_by_its_modulus():
    allowed = allowed_error(np.array([3 + 4j, 5 + 0j, 1e-8 + 5j]), "complex64", OpClass.ROUNDING)
    assert np.ptp(allowed) <= 1e-12
    assert allowed[0] > 5 * U32 * 5.0


def test_intermediate_roundings_add_one_unit_of_the_dtype_each():
    plain = allowed_error(np.array([1.0]), "bfloat16", OpClass.MATMUL, 8, 2.0)[0]
    twice = allowed_error(np.array([1.0]), "bfloat16", OpClass.MATMUL, 8, 2.0, roundings=2)[0]
    assert twice - plain == near(2 * 2.0**-8 * 2.0)


def test_shape_of_the_allowance_is_the_reference_s():
    for shape in [(), (0,), (2, 0, 3), (4, 5)]:
        assert allowed_error(np.ones(shape), "float32", OpClass.ROUNDING).shape == shape


@pytest.mark.parametrize("multiple", [0.0, 3.9, -4.0, 16.5, 1e6, np.inf, np.nan])
def test_a_multiple_out_of_range_is_refused(multiple):
    with pytest.raises(ValueError, match=r"\[ELEMENTARY\] multiple"):
        allowed_error(np.ones(1), "float32", OpClass.ELEMENTARY, multiple=multiple)


@pytest.mark.parametrize("op_class", [OpClass.EXACT, OpClass.ROUNDING])
def test_classes_without_a_multiple_refuse_one(op_class):
    with pytest.raises(ValueError, match="has no multiple"):
        allowed_error(np.ones(1), "float32", op_class, multiple=2.0)


def test_random_operators_have_no_bound():
    with pytest.raises(ValueError, match="compare_distribution"):
        allowed_error(np.ones(1), "float32", OpClass.RANDOM)


def test_a_sum_without_a_certain_digit_is_refused():
    with pytest.raises(
        ValueError, match=r"4096 terms accumulated in float16.*accumulate in a wider format"
    ):
        allowed_error(np.ones(1), "float16", OpClass.REDUCTION, 4096, accumulate="float16")


@pytest.mark.parametrize("accumulate", ["int32", "complex64"])
def test_sums_are_accumulated_in_real_floats_only(accumulate):
    with pytest.raises(TypeError, match=f"cannot accumulate in {accumulate}"):
        allowed_error(np.ones(1), "float32", OpClass.REDUCTION, 2, accumulate=accumulate)


@pytest.mark.parametrize(
    ("length", "magnitude", "message"),
    [
        (-1, None, "reduction_length must be integers >= 0"),
        (1.5, None, "reduction_length must be integers >= 0"),
        (np.ones((2, 1), int), None, "reduction_length has shape"),
        (1, np.ones(2), "magnitude has shape"),
        (1, -1.0, "magnitude is negative or not finite"),
        (1, np.inf, "magnitude is negative or not finite"),
        (1, np.nan, "magnitude is negative or not finite"),
        (1, 1j, "magnitude must be real"),
    ],
)
def test_lengths_and_magnitudes_are_checked(length, magnitude, message):
    with pytest.raises(ValueError, match=message):
        allowed_error(np.ones((2, 3)), "float32", OpClass.REDUCTION, length, magnitude)


def test_a_magnitude_may_be_anything_where_the_reference_is_not_finite():
    allowed = allowed_error(np.array([np.nan, 1.0]), "float32", OpClass.REDUCTION, 3, [np.nan, 2.0])
    assert allowed[0] == 0 and allowed[1] > 0


@pytest.mark.parametrize(
    ("reference", "dtype"),
    [
        (np.ones(2, np.float32), "float32"),
        (np.ones(2, np.float16), "bfloat16"),
        (np.ones(2, np.complex64), "complex64"),
        (np.ones(2, np.complex128), "float32"),
        (np.ones(2, np.int64), "float32"),
        (np.ones(2), "int32"),
        (np.ones(2, np.bool_), "int32"),
        (np.ones(2, np.int64), "bool"),
    ],
)
def test_a_reference_no_better_than_the_result_is_refused(reference, dtype):
    with pytest.raises(TypeError, match=f"the reference of a {dtype} result is {reference.dtype}"):
        allowed_error(reference, dtype, OpClass.ROUNDING)


def test_spacing_does_not_grow_beyond_the_range():
    largest = float(np.finfo(np.float32).max)
    allowed = allowed_error(np.array([largest, 1e300]), "float32", OpClass.ROUNDING)
    assert allowed[0] == near(1.5 * 2.0**104)


def test_a_reference_of_the_result_s_dtype_is_allowed_as_much_as_the_result():
    single = allowed_error(np.ones(1, np.longdouble), "float64", OpClass.REDUCTION, 1000)[0]
    both = allowed_error(np.ones(1), "float64", OpClass.REDUCTION, 1000)[0]
    gamma = 1007 * 2.0**-53
    if np.finfo(np.longdouble).nmant > 52:
        assert single == near(gamma + 1.5 * 2.0**-52, rel=1e-3)
    assert both == near(2 * gamma + 2 * 2.0**-52, rel=1e-3)


def test_complex_sums_and_functions_are_allowed_what_their_parts_add_up_to():
    def allowed(op_class):
        return allowed_error(np.array([1e-9j]), "complex64", op_class, 100, 1.0)[0]

    assert allowed(OpClass.ELEMENTARY) == near(4 * 4 * 2.0**-23, rel=1e-4)
    assert allowed(OpClass.REDUCTION) == near((99 + 4 * 8) * U32, rel=1e-4)
    assert allowed(OpClass.MATMUL) == near(np.sqrt(2) * (199 + 4) * U32, rel=1e-4)


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        (Bound.of("float16", OpClass.EXACT), "0: the reference rounded to float16"),
        (Bound.of("bfloat16", OpClass.ROUNDING), "1.5 ulp of bfloat16"),
        (Bound.of("float16", OpClass.ELEMENTARY), "1.5 ulp of float16 + 4 ulp of float32"),
        (
            Bound.of("float32", OpClass.REDUCTION, roundings=1),
            "1.5 ulp of float32 + gamma(107) of float32 x magnitude + 1 u of float32 x magnitude",
        ),
        (
            Bound.of("complex64", OpClass.MATMUL, multiple=2.0),
            "2.12 ulp of float32 + 2 gamma(203) of float32 x magnitude",
        ),
        (Bound.of("complex64", OpClass.ELEMENTARY), "2.12 ulp of float32 + 16 ulp of float32"),
        (Bound.of("complex64", OpClass.ROUNDING), "2.12 ulp of float32 + 5.66 u of float32"),
    ],
)
def test_the_bound_says_what_it_is(bound, text):
    assert bound.formula(100) == text
