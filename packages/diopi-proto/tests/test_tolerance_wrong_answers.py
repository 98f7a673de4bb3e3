"""Wrong results, of the kinds that vendors produce, must be rejected."""

import math

import numpy as np
import pytest

from diopi_proto.tolerance import (
    OpClass,
    compare,
    float32_to_bfloat16,
    matmul_magnitude,
    sum_magnitude,
)

MILLION = 1_000_000


def uniform(size, seed=1):
    return np.random.default_rng(seed).uniform(0.5, 2.0, size)


def test_one_wrong_element_among_a_million():
    reference = uniform(MILLION)
    result = reference.astype(np.float32)
    result[765_432] *= np.float32(1 + 2.0**-20)
    outcome = compare(result, reference, dtype="float32", op_class=OpClass.ELEMENTARY)
    assert (outcome.ok, outcome.wrong, outcome.total) == (False, 1, MILLION)
    assert outcome.worst == (765_432,)
    assert outcome.got == float(result[765_432])
    assert outcome.want == reference[765_432]
    assert outcome.error == abs(outcome.got - outcome.want)
    assert outcome.ratio == outcome.error / outcome.allowed > 1
    assert outcome.cosine > 1 - 1e-12


def test_a_tail_that_was_never_written():
    reference = uniform(1003).reshape(17, 59)
    result = reference.astype(np.float32)
    result.reshape(-1)[1000:] = 0
    outcome = compare(result, reference, dtype="float32", op_class=OpClass.ROUNDING)
    assert outcome.wrong == 3
    assert outcome.worst[0] == 16
    assert outcome.max_rel == 1.0


def test_a_result_that_was_never_written():
    outcome = compare(np.zeros(9, np.float16), uniform(9), dtype="float16", op_class=OpClass.MATMUL)
    assert outcome.wrong == 9
    assert math.isnan(outcome.cosine)


def test_a_sum_that_drops_its_last_term():
    terms = uniform((64, 1000)).astype(np.float32)
    reference = terms.astype(np.float64).sum(1)
    bound = dict(
        dtype="float32",
        op_class=OpClass.REDUCTION,
        reduction_length=1000,
        magnitude=sum_magnitude(terms, 1),
    )
    assert compare(terms.sum(1), reference, **bound).ok
    assert compare(terms[:, :-1].sum(1), reference, **bound).wrong == 64


def test_a_matmul_that_drops_the_last_of_its_inner_dimension():
    rng = np.random.default_rng(2)
    left, right = (rng.standard_normal((96, 96)).astype(np.float32) for _ in range(2))
    reference = left.astype(np.float64) @ right.astype(np.float64)
    bound = dict(
        dtype="float32",
        op_class=OpClass.MATMUL,
        reduction_length=96,
        magnitude=matmul_magnitude(left, right),
    )
    assert compare(left @ right, reference, **bound).ok
    short = compare(left[:, :-1] @ right[:-1], reference, **bound)
    assert short.wrong > 0.99 * short.total


@pytest.mark.parametrize("op_class", [OpClass.EXACT, OpClass.ROUNDING, OpClass.REDUCTION])
def test_the_wrong_sign(op_class):
    reference = np.array([1.0, -2.0, 3e-45])
    result = np.array([1.0, 2.0, 3e-45], np.float32)
    outcome = compare(
        result, reference.astype(np.float32).astype(float), dtype="float32", op_class=op_class
    )
    assert outcome.wrong == 1 and outcome.worst == (1,)


@pytest.mark.parametrize("op_class", [OpClass.EXACT, OpClass.ROUNDING, OpClass.MATMUL])
@pytest.mark.parametrize(
    ("want", "got"),
    [
        (math.nan, 0.0),
        (math.nan, math.inf),
        (0.0, math.nan),
        (math.inf, -math.inf),
        (math.inf, math.nan),
        (math.inf, 65504.0),
        (-math.inf, -65504.0),
        (65504.0, math.inf),
        (-65504.0, -math.inf),
        (1e6, 65504.0),
        (1e6, -math.inf),
        (1e6, math.nan),
        (1.0, math.inf),
    ],
)
def test_nan_and_infinity_are_met_exactly(op_class, want, got):
    reference = np.array([1.0, want, 2.0])
    result = np.array([1.0, got, 2.0], np.float16)
    outcome = compare(result, reference, dtype="float16", op_class=op_class)
    assert outcome.wrong == 1
    assert outcome.worst == (1,)
    assert outcome.ratio == math.inf
    assert outcome.max_abs == math.inf or want == 1e6


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_largest_number_and_infinity_are_not_the_same(dtype):
    largest = float(np.finfo(dtype).max)
    for want, got in [(largest, np.inf), (np.inf, largest), (-largest, -np.inf)]:
        outcome = compare(
            np.array([got], dtype), np.array([want]), dtype=dtype, op_class=OpClass.ROUNDING
        )
        assert not outcome.ok


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_an_integer_off_by_one(dtype):
    info = np.iinfo(dtype)
    reference = np.array([info.min, 0, 1, info.max - 1, info.max], dtype)
    for at, step in [(0, 1), (1, 1), (3, 1), (4, -1)]:
        result = reference.copy()
        result[at] = int(result[at]) + step
        outcome = compare(result, reference, dtype=dtype, op_class=OpClass.REDUCTION)
        assert (outcome.wrong, outcome.worst, outcome.error) == (1, (at,), 1.0)
        assert outcome.got == int(reference[at]) + step and outcome.want == int(reference[at])


def test_an_integer_that_wrapped_around():
    for dtype, want, got in [("uint8", 300, 44), ("int8", 128, -128), ("int32", 2**31, -(2**31))]:
        outcome = compare(
            np.array([got], dtype), np.array([want], np.int64), dtype=dtype, op_class=OpClass.EXACT
        )
        assert outcome.wrong == 1
        assert outcome.error == want - got
    outcome = compare(
        np.array([2**64 - 1], np.uint64),
        np.array([-1], np.int64),
        dtype="uint64",
        op_class=OpClass.EXACT,
    )
    assert outcome.wrong == 1
    assert outcome.error == 2.0**64


def test_a_bool_that_is_wrong_or_no_bool():
    reference = np.array([True, False, True])
    flipped = compare(~reference, reference, dtype="bool", op_class=OpClass.EXACT)
    assert flipped.wrong == 3 and flipped.got is False and flipped.want is True
    bytes_ = np.array([1, 0, 2], np.uint8).view(np.bool_)
    outcome = compare(bytes_, reference, dtype="bool", op_class=OpClass.EXACT)
    assert outcome.worst == (2,) and outcome.got == 2


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_one_ulp_is_wrong_where_the_operator_is_exact(dtype):
    values = uniform(50).astype(np.float32)
    if dtype == "bfloat16":
        result = float32_to_bfloat16(values)
        reference = (result.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        result = result + (np.arange(50) == 7).astype(np.uint16)
    else:
        result = values.astype(dtype)
        reference = result.astype(np.float64)
        result[7] = np.nextafter(result[7], result.dtype.type(9))
    outcome = compare(result, reference, dtype=dtype, op_class=OpClass.EXACT)
    assert (outcome.wrong, outcome.worst) == (1, (7,))


def test_a_float16_accumulator_where_float32_is_asked_for():
    terms = np.random.default_rng(3).uniform(0, 1, (8, 4096)).astype(np.float16)
    reference = terms.astype(np.float64).sum(1)
    bound = dict(
        dtype="float16",
        op_class=OpClass.REDUCTION,
        reduction_length=4096,
        magnitude=sum_magnitude(terms, 1),
    )
    narrow = np.cumsum(terms, axis=1, dtype=np.float16)[:, -1]
    wide = terms.astype(np.float32).sum(1).astype(np.float16)
    assert compare(wide, reference, **bound).ok
    # A row may be correct by chance; most are not.
    assert compare(narrow, reference, **bound).wrong > 4


def test_a_bfloat16_accumulator_where_float32_is_asked_for():
    rng = np.random.default_rng(4)
    terms = float32_to_bfloat16(rng.uniform(0, 1, (8, 512)))
    values = (terms.astype(np.uint32) << 16).view(np.float32)
    total = np.zeros(8, np.uint16)
    for column in values.T:
        total = float32_to_bfloat16((total.astype(np.uint32) << 16).view(np.float32) + column)
    bound = dict(
        dtype="bfloat16",
        op_class=OpClass.REDUCTION,
        reduction_length=512,
        magnitude=sum_magnitude(values, 1),
    )
    reference = values.astype(np.float64).sum(1)
    assert compare(float32_to_bfloat16(values.sum(1)), reference, **bound).ok
    assert compare(total, reference, **bound).wrong > 4


def test_a_float64_result_that_passed_through_float32():
    reference = uniform(100)
    result = reference.astype(np.float32).astype(np.float64)
    outcome = compare(result, reference, dtype="float64", op_class=OpClass.ELEMENTARY)
    assert outcome.wrong >= 99


def test_a_tf32_matmul_where_float32_is_asked_for():
    rng = np.random.default_rng(5)
    left, right = (rng.standard_normal((64, 64)).astype(np.float32) for _ in range(2))
    short = [
        (side.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) for side in (left, right)
    ]
    outcome = compare(
        short[0] @ short[1],
        left.astype(np.float64) @ right.astype(np.float64),
        dtype="float32",
        op_class=OpClass.MATMUL,
        reduction_length=64,
        magnitude=matmul_magnitude(left, right),
    )
    assert outcome.wrong > outcome.total / 2


def test_a_float32_sum_of_a_million_tenths_one_after_the_other():
    terms = np.full(MILLION, 0.1, np.float32)
    bound = dict(dtype="float32", op_class=OpClass.REDUCTION, reduction_length=MILLION)
    reference = terms.astype(np.float64).sum()
    assert compare(terms.sum(), reference, **bound).ok
    naive = np.cumsum(terms, dtype=np.float32)[-1]
    assert compare(naive, reference, **bound).wrong == 1


def test_subnormals_flushed_to_zero():
    reference = np.array([2.0**-130, 2.0**-148, -(2.0**-127)])
    result = np.zeros(3, np.float32)
    outcome = compare(result, reference, dtype="float32", op_class=OpClass.ROUNDING)
    assert outcome.wrong == 3


def test_conjugated_and_swapped_complex_numbers():
    rng = np.random.default_rng(6)
    reference = rng.standard_normal(40) + 1j * rng.standard_normal(40)
    right = reference.astype(np.complex64)
    bound = dict(dtype="complex64", op_class=OpClass.MATMUL, reduction_length=4)
    assert compare(right, reference, **bound).ok
    assert compare(right.conj(), reference, **bound).wrong == 40
    assert compare((right * 1j).astype(np.complex64), reference, **bound).wrong == 40
    assert compare(right.real + 0j * right, reference, **bound).wrong == 40


@pytest.mark.parametrize("step", [1e-3, 1e-3j])
def test_one_part_of_a_complex_number(step):
    reference = np.full(9, 1 + 1j)
    result = reference.astype(np.complex64)
    result[4] += np.complex64(step)
    outcome = compare(result, reference, dtype="complex64", op_class=OpClass.ROUNDING)
    assert (outcome.wrong, outcome.worst) == (1, (4,))


def test_nan_in_one_part_of_a_complex_number():
    reference = np.array([1 + 2j, complex(1, math.nan), complex(math.inf, 1)])
    swallowed = np.array([1 + 2j, 1 + 0j, complex(math.inf, 1)], np.complex64)
    invented = np.array(
        [complex(math.nan, 2), complex(1, math.nan), complex(math.inf, 1)], np.complex64
    )
    finite_part = np.array([1 + 2j, complex(1, math.nan), complex(math.inf, 7)], np.complex64)
    for at, result in [(1, swallowed), (0, invented), (2, finite_part)]:
        outcome = compare(result, reference, dtype="complex64", op_class=OpClass.ROUNDING)
        assert (outcome.wrong, outcome.worst) == (1, (at,))


def test_another_shape_is_named_and_never_broadcast():
    reference = np.ones((4, 1))
    for shape in [(4,), (1, 4), (4, 4), (1,), (), (4, 1, 1), (0, 1)]:
        outcome = compare(
            np.ones(shape, np.float32), reference, dtype="float32", op_class=OpClass.ROUNDING
        )
        assert not outcome.ok
        assert outcome.mismatch == "shape"
        assert outcome.detail == f"shape is {shape}, want (4, 1)"
        assert (outcome.wrong, outcome.total, outcome.worst) == (4, 4, None)


def test_an_empty_result_of_another_shape_is_wrong():
    outcome = compare(
        np.ones((0, 3), np.float32), np.ones((3, 0)), dtype="float32", op_class=OpClass.ROUNDING
    )
    assert not outcome.ok and outcome.mismatch == "shape"


@pytest.mark.parametrize(
    ("got", "want"),
    [
        ("float32", "float16"),
        ("float64", "float32"),
        ("float16", "bfloat16"),
        ("int32", "int64"),
        ("uint8", "bool"),
        ("bool", "uint8"),
        ("float32", "int32"),
        ("complex64", "float32"),
        ("float32", "complex64"),
        ("uint16", "float16"),
    ],
)
def test_another_dtype_is_named(got, want):
    kind = {"b": np.bool_, "i": np.int64, "u": np.int64}.get(want[0], np.float64)
    kind = np.float64 if want == "bfloat16" else kind
    outcome = compare(np.ones(3, got), np.ones(3, kind), dtype=want, op_class=OpClass.EXACT)
    assert not outcome.ok
    assert (outcome.mismatch, outcome.wrong) == ("dtype", 3)
    assert outcome.detail == f"dtype is {got}, want {want}"


def test_float32_values_are_not_bfloat16_s():
    reference = np.array([1.0, 1.00390625])
    outcome = compare(
        reference.astype(np.float32), reference, dtype="bfloat16", op_class=OpClass.ELEMENTARY
    )
    assert outcome.mismatch == "dtype"
    assert "values that bfloat16 does not have" in outcome.detail


def test_complex64_values_are_not_complex32_s():
    reference = np.array([1.0 + 1j, 1 + 1.0001j])
    outcome = compare(
        reference.astype(np.complex64), reference, dtype="complex32", op_class=OpClass.ELEMENTARY
    )
    assert outcome.mismatch == "dtype"


def test_indices_are_those_of_c_order_when_memory_is_not():
    reference = np.asfortranarray(uniform((300, 400)))
    result = np.asfortranarray(reference.astype(np.float32))
    result[12, 345] = 0
    outcome = compare(result, reference, dtype="float32", op_class=OpClass.ROUNDING)
    assert (outcome.wrong, outcome.worst) == (1, (12, 345))


def test_a_wrong_element_in_any_piece_of_a_strided_result_is_found():
    reference = uniform((300, 400))
    for at in [(0, 0), (0, 399), (81, 367), (81, 368), (163, 335), (299, 399)]:
        backing = np.zeros((800, 600), np.float32)
        result = backing[::2, 1::2].T[:, ::-1]
        result[...] = reference
        result[at] += 1e-3
        outcome = compare(result, reference, dtype="float32", op_class=OpClass.ROUNDING)
        assert (outcome.wrong, outcome.worst) == (1, at)
