import math

import numpy as np
import pytest

from diopi_proto.tolerance import (
    bfloat16_to_float32,
    float32_to_bfloat16,
    round_to,
    unit_roundoff,
)
from diopi_proto.tolerance.formats import format_of

RNG = np.random.default_rng(20)


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [
        ("float16", 11),
        ("bfloat16", 8),
        ("float32", 24),
        ("float64", 53),
        ("complex32", 11),
        (np.complex64, 24),
        (np.dtype("complex128"), 53),
    ],
)
def test_unit_roundoff_is_half_the_spacing_at_one(dtype, bits):
    assert unit_roundoff(dtype) == 2.0**-bits


@pytest.mark.parametrize("dtype", ["int8", "uint64", np.int32, "bool", np.bool_])
def test_integers_and_bool_have_no_roundoff(dtype):
    assert unit_roundoff(dtype) == 0.0


@pytest.mark.parametrize("dtype", ["float8", "object", "datetime64[s]", object(), "tfloat32"])
def test_an_unknown_dtype_is_named(dtype):
    with pytest.raises(TypeError, match="no number format for dtype"):
        unit_roundoff(dtype)


def samples_across_the_range(of):
    """Return values in every binade, at and next to powers of two, subnormal and out of range."""
    exponents = np.arange(of.min_exponent - of.precision - 2, of.max_exponent + 2)
    exponents = exponents[(exponents > -1075) & (exponents < 1024)]
    powers = np.ldexp(1.0, exponents)
    with np.errstate(over="ignore"):
        near = [powers * factor for factor in (1, 1 - 2.0**-20, 1 + 2.0**-20, 1.5, 1.2345678)]
        near.append(powers * (2 - 2.0**-of.precision))
        near.append(powers * (2 - 2.0 ** -(of.precision - 1)))
    values = np.concatenate([*near, powers * RNG.uniform(1, 2, powers.size), [0.0, np.inf, np.nan]])
    return np.concatenate([values, -values])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_rounding_is_numpys_own(dtype):
    values = samples_across_the_range(format_of(dtype))
    with np.errstate(over="ignore", under="ignore"):
        wanted = values.astype(dtype).astype(np.float64)
    np.testing.assert_array_equal(round_to(values, dtype), wanted)


def test_rounding_to_bfloat16_takes_the_nearest_pattern_and_even_ones_on_ties():
    patterns = np.arange(0, 0x7F80, dtype=np.uint16)
    values = bfloat16_to_float32(patterns).astype(np.float64)
    np.testing.assert_array_equal(round_to(values, "bfloat16"), values)
    middle = (values[:-1] + values[1:]) / 2
    even = np.where(patterns[:-1] % 2 == 0, values[:-1], values[1:])
    np.testing.assert_array_equal(round_to(middle, "bfloat16"), even)
    below, above = np.nextafter(middle, 0), np.nextafter(middle, np.inf)
    np.testing.assert_array_equal(round_to(below, "bfloat16"), values[:-1])
    np.testing.assert_array_equal(round_to(above, "bfloat16"), values[1:])


def test_rounding_overflows_from_the_threshold_on():
    largest = float(bfloat16_to_float32(np.array([0x7F7F], np.uint16))[0])
    threshold = 2.0**128 - 2.0**119
    np.testing.assert_array_equal(
        round_to(np.array([threshold, -threshold, np.nextafter(threshold, 0)]), "bfloat16"),
        [math.inf, -math.inf, largest],
    )


@pytest.mark.parametrize(
    ("values", "dtype"),
    [(np.ones(2), "int8"), (np.ones(2), "complex64"), (np.ones(2, np.float32), "float16")],
)
def test_round_to_refuses_what_it_cannot_round(values, dtype):
    with pytest.raises(TypeError, match="round_to takes"):
        round_to(values, dtype)


def test_bfloat16_patterns_survive_the_way_there_and_back():
    patterns = np.arange(0x10000, dtype=np.uint32).astype(np.uint16).reshape(256, 256)
    values = bfloat16_to_float32(patterns)
    again = float32_to_bfloat16(values)
    numbers = ~np.isnan(values)
    assert values.shape == (256, 256)
    np.testing.assert_array_equal(again[numbers], patterns[numbers])
    assert np.all(np.isnan(bfloat16_to_float32(again[~numbers])))


def test_a_nan_with_a_low_payload_does_not_become_an_infinity():
    value = np.array([0x7F800001], np.uint32).view(np.float32)
    assert np.isnan(bfloat16_to_float32(float32_to_bfloat16(value)))[0]


def test_bfloat16_bits_of_another_dtype_are_refused():
    with pytest.raises(TypeError, match="uint16"):
        bfloat16_to_float32(np.ones(2, np.float32))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_spacing_is_numpys_own_away_from_the_next_power_of_two(dtype):
    of = format_of(dtype)
    values = samples_across_the_range(of)
    values = round_to(np.abs(values[np.isfinite(values)]), dtype)
    values = values[np.isfinite(values)]
    fraction, _ = np.frexp(values)
    inner = values[fraction < 1 - of.unit_roundoff * 2]
    wanted = np.spacing(inner.astype(dtype)).astype(np.float64)
    np.testing.assert_array_equal(of.spacing(inner), wanted)


def test_spacing_within_the_last_ulp_is_that_of_the_next_binade():
    spacing = format_of("float32").spacing(np.array([2 - 2.0**-25, 2.0, 2 - 2.0**-22]))
    np.testing.assert_array_equal(spacing, [2.0**-22, 2.0**-22, 2.0**-23])
