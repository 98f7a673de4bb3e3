"""Correct results of real implementations, for many seeds and magnitudes, must be accepted."""

import numpy as np
import pytest

from diopi_proto.tolerance import (
    OpClass,
    Order,
    compare,
    float32_to_bfloat16,
    matmul_magnitude,
    sum_magnitude,
)

SEEDS = range(25)


def plain(rng, shape):
    return rng.standard_normal(shape)


def positive(rng, shape):
    return rng.uniform(0, 1, shape)


def wide(rng, shape):
    return rng.choice([-1, 1], shape) * 10.0 ** rng.uniform(-12, 12, shape)


def cancelling(rng, shape):
    values = rng.standard_normal(shape)
    half = shape[-1] // 2
    values[..., half : 2 * half] = -values[..., :half]
    return values + 1e-6 * rng.standard_normal(shape)


def constant(rng, shape):
    return np.full(shape, rng.uniform(0.01, 1))


def ascending(rng, shape):
    return np.sort(10.0 ** rng.uniform(-6, 6, shape), axis=-1)


def descending(rng, shape):
    return ascending(rng, shape)[..., ::-1]


def tiny(rng, shape):
    return rng.standard_normal(shape) * 1e-38


MAKERS = [plain, positive, wide, cancelling, constant, ascending, descending, tiny]


def agrees(result, reference, dtype, op_class, **arguments):
    outcome = compare(result, reference, dtype=dtype, op_class=op_class, **arguments)
    assert outcome.ok, outcome.report(f"{op_class.value} of {dtype}")


@pytest.mark.parametrize("make", MAKERS)
def test_float32_matmul(make):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        rows, inner, columns = rng.integers(1, 20), int(rng.integers(1, 3000)), rng.integers(1, 20)
        left = make(rng, (rows, inner)).astype(np.float32)
        right = make(rng, (columns, inner)).T.astype(np.float32)
        agrees(
            left @ right,
            left.astype(np.float64) @ right.astype(np.float64),
            "float32",
            OpClass.MATMUL,
            reduction_length=inner,
            magnitude=matmul_magnitude(left, right),
        )


def test_float32_products_that_underflow():
    left = np.full((1, 3000), 2.0**-75, np.float32)
    right = np.full((3000, 1), 0.6 * 2.0**-74, np.float32)
    agrees(
        np.sum(left.T * right, axis=0, keepdims=True),
        left.astype(np.float64) @ right.astype(np.float64),
        "float32",
        OpClass.MATMUL,
        reduction_length=3000,
        magnitude=matmul_magnitude(left, right),
    )


@pytest.mark.parametrize("make", MAKERS)
def test_float32_sums_in_numpy_s_orders(make):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        terms = make(rng, (4, int(rng.integers(1, 4096)))).astype(np.float32)
        reference = terms.astype(np.float64).sum(1)
        bound = dict(reduction_length=terms.shape[1], magnitude=sum_magnitude(terms, 1))
        columns = np.ascontiguousarray(terms.T)
        for result in (
            terms.sum(1),
            columns.sum(0),
            np.cumsum(terms, 1)[:, -1],
            np.cumsum(terms[:, ::-1], 1)[:, -1],
        ):
            agrees(result, reference, "float32", OpClass.REDUCTION, **bound)


@pytest.mark.parametrize("make", [plain, positive, constant, cancelling])
def test_long_float32_sums(make):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        terms = make(rng, (1_000_003,)).astype(np.float32)
        bound = dict(reduction_length=terms.size, magnitude=sum_magnitude(terms))
        agrees(terms.sum(), terms.astype(np.float64).sum(), "float32", OpClass.REDUCTION, **bound)


@pytest.mark.parametrize("make", [plain, positive, wide, cancelling, constant])
def test_float64_sums_against_float64_and_longdouble(make):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        terms = make(rng, (3, int(rng.integers(1, 4096))))
        bound = dict(reduction_length=terms.shape[1], magnitude=sum_magnitude(terms, 1))
        result = np.cumsum(terms, 1)[:, -1]
        for reference in (terms.sum(1), terms.astype(np.longdouble).sum(1)):
            agrees(result, reference, "float64", OpClass.REDUCTION, **bound)


@pytest.mark.parametrize("make", [plain, positive, constant, cancelling])
def test_sixteen_bit_sums_accumulated_in_float32(make):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        terms = make(rng, (4, int(rng.integers(1, 4096)))).astype(np.float16)
        bound = dict(reduction_length=terms.shape[1], magnitude=sum_magnitude(terms, 1))
        reference = terms.astype(np.float64).sum(1)
        total = np.cumsum(terms, 1, dtype=np.float32)[:, -1]
        agrees(total.astype(np.float16), reference, "float16", OpClass.REDUCTION, **bound)
        agrees(float32_to_bfloat16(total), reference, "bfloat16", OpClass.REDUCTION, **bound)


def test_a_scan_in_one_order():
    for seed in SEEDS:
        terms = np.random.default_rng(seed).uniform(0, 1, 20_000).astype(np.float32)
        agrees(
            np.cumsum(terms),
            np.cumsum(terms.astype(np.float64)),
            "float32",
            OpClass.REDUCTION,
            reduction_length=np.arange(1, terms.size + 1),
            order=Order.ANY,
        )


FUNCTIONS = {
    "exp": (np.exp, -100, 88),
    "exp2": (np.exp2, -149, 128),
    "expm1": (np.expm1, -10, 80),
    "log": (np.log, 1e-38, 1e30),
    "log1p": (np.log1p, -0.99, 100),
    "sin": (np.sin, -1e4, 1e4),
    "cos": (np.cos, -1e4, 1e4),
    "tanh": (np.tanh, -10, 10),
    "arctan": (np.arctan, -1e6, 1e6),
    "cbrt": (np.cbrt, -1e30, 1e30),
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_elementary_functions(name, dtype):
    function, low, high = FUNCTIONS[name]
    for seed in SEEDS:
        with np.errstate(all="ignore"):
            argument = np.random.default_rng(seed).uniform(low, high, 2000).astype(dtype)
            wider = np.longdouble if dtype == "float64" else np.float64
            result, reference = function(argument), function(argument.astype(wider))
        agrees(result, reference, dtype, OpClass.ELEMENTARY)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_single_roundings_over_all_bit_patterns(dtype):
    bits = {"float16": np.uint16, "float32": np.uint32, "float64": np.uint64}[dtype]
    wider = np.longdouble if dtype == "float64" else np.float64
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        left, right = (
            rng.integers(0, np.iinfo(bits).max, 3000, dtype=bits, endpoint=True).view(dtype)
            for _ in range(2)
        )
        for function in (np.add, np.subtract, np.multiply, np.divide, np.sqrt):
            with np.errstate(all="ignore"):
                arguments = (left, right)[: function.nin]
                result = function(*arguments)
                reference = function(*(each.astype(wider) for each in arguments))
            agrees(result, reference, dtype, OpClass.ROUNDING)


def test_float32_products_rounded_to_bfloat16_in_a_second_step():
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        left, right = (rng.standard_normal(5000).astype(np.float32) for _ in range(2))
        reference = left.astype(np.float64) * right.astype(np.float64)
        agrees(float32_to_bfloat16(left * right), reference, "bfloat16", OpClass.ROUNDING)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_arithmetic(dtype):
    wider = np.clongdouble if dtype == "complex128" else np.complex128
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        left, right = (
            (wide(rng, (2000,)) + 1j * wide(rng, (2000,))).astype(dtype) for _ in range(2)
        )
        for function in (np.add, np.subtract, np.multiply, np.divide):
            reference = function(left.astype(wider), right.astype(wider))
            agrees(function(left, right), reference, dtype, OpClass.ROUNDING)


def test_complex_functions():
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        argument = (rng.uniform(-9, 9, 2000) + 1j * rng.uniform(-9, 9, 2000)).astype(np.complex64)
        for function in (np.exp, np.sin, np.sqrt, np.tanh):
            reference = function(argument.astype(np.complex128))
            agrees(function(argument), reference, "complex64", OpClass.ELEMENTARY)


@pytest.mark.parametrize("make", [plain, wide, cancelling])
def test_complex_matmul_and_sum(make):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        inner = int(rng.integers(1, 1500))
        left, right = (
            (make(rng, (5, inner)) + 1j * make(rng, (5, inner))).astype(np.complex64)
            for _ in range(2)
        )
        wider = [side.astype(np.complex128) for side in (left, right)]
        agrees(
            left @ right.T,
            wider[0] @ wider[1].T,
            "complex64",
            OpClass.MATMUL,
            reduction_length=inner,
            magnitude=matmul_magnitude(left, right.T),
        )
        agrees(
            left.sum(1),
            wider[0].sum(1),
            "complex64",
            OpClass.REDUCTION,
            reduction_length=inner,
            magnitude=sum_magnitude(left, 1),
        )


def softmax(values):
    powers = np.exp(values - values.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@pytest.mark.parametrize("scale", [0.1, 1.0, 8.0])
def test_softmax_as_a_reduction(scale):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        values = (scale * rng.standard_normal((5, int(rng.integers(1, 600))))).astype(np.float32)
        agrees(
            softmax(values),
            softmax(values.astype(np.float64)),
            "float32",
            OpClass.REDUCTION,
            reduction_length=values.shape[1],
            magnitude=softmax(values.astype(np.float64)) * (1 + np.ptp(values, 1, keepdims=True)),
        )


def test_mean_and_norm_as_reductions():
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        values = wide(rng, (4, int(rng.integers(1, 2000)))).astype(np.float32)
        exact, length = values.astype(np.float64), values.shape[1]
        magnitude = sum_magnitude(values, 1) / length
        agrees(
            values.mean(1),
            exact.mean(1),
            "float32",
            OpClass.REDUCTION,
            reduction_length=length,
            magnitude=magnitude,
        )
        agrees(
            np.sqrt((values * values).sum(1)),
            np.sqrt((exact * exact).sum(1)),
            "float32",
            OpClass.REDUCTION,
            reduction_length=length,
        )
