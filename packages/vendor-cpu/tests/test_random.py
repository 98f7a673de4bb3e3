"""Tests of random numbers: the stream, the positions in it, and the distributions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from diopi_proto import Generator, OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from philox import below, philox, units, words
from support import FLOATS, INTS, Exact, check, exact, numbers, out_like, place, stored

WIDE = ("uint16", "uint32", "uint64")


def integers(seed: int, offset: int, n: int, low: int, high: int) -> list[int]:
    """Return what diopiRandomInp draws from [low, high)."""
    long = high - low > 1 << 24
    return [low + below(seed, offset, i, high - low, long) for i in range(n)]


def test_reference_matches_the_published_vectors() -> None:
    # The known answer of philox4x32-10 for counter 0 and key 0, from the Random123 distribution.
    assert philox(0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_takes_the_words_of_its_digits(vendor: Vendor, dtype: str) -> None:
    seed, offset = (5 << 33) + 9, (1 << 32) + 7
    generator = Generator(seed=seed, offset=offset)
    out = out_like(vendor, (3, 7), dtype, "transposed")
    vendor.op.UniformInp(out, -1.0, 3.0, generator)
    want = -1 + 4 * units(seed, offset, 21, dtype).reshape(3, 7)
    check(out, want, OpClass.ROUNDING, "UniformInp")
    assert generator.offset == offset + (11 if dtype == "float64" else 6)


RANGES = {
    "float16": [(1.0, 2.0), (-6e4, 6e4), (2047.0, 2049.0), (0.1, 0.1001)],
    "bfloat16": [(1.0, 2.0), (-3e38, 3e38), (255.0, 257.0), (1.001, 1.01)],
    "float32": [(1.0, 2.0), (-3.4e38, 3.4e38), (2.0**24 - 1, 2.0**24 + 2), (0.1, 0.1 + 1e-8)],
    "float64": [(1.0, 2.0), (-1.7e308, 1.7e308), (2.0**53 - 1, 2.0**53 + 2), (1.0, 1.0 + 2**-52)],
}


@pytest.mark.parametrize(("dtype", "low", "high"), [(d, *r) for d in FLOATS for r in RANGES[d]])
def test_uniform_numbers_round_into_their_range(
    vendor: Vendor, dtype: str, low: float, high: float
) -> None:
    out = out_like(vendor, (1 << 16,), dtype)
    vendor.op.UniformInp(out, low, high, Generator(seed=12))
    values, width = exact(out.numpy(), dtype), Exact(high) - Exact(low)
    assert ((values >= low) & (values < high)).all()
    if width > 100:
        assert values.max() - values.min() > 0.99 * width


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [("bfloat16", 1.001, 1.002), ("float16", 0.10001, 0.10002), ("float32", 0.1, 0.1 + 1e-10)],
)
def test_uniform_numbers_of_a_range_between_two_are_one_of_them(
    vendor: Vendor, dtype: str, low: float, high: float
) -> None:
    out = out_like(vendor, (64,), dtype)
    vendor.op.UniformInp(out, low, high, Generator(seed=12))
    assert np.array_equal(out.numpy(), stored([low] * 64, dtype))


def test_uniform_numbers_of_no_width_are_the_bound(vendor: Vendor) -> None:
    out = out_like(vendor, (5,), "float32")
    vendor.op.UniformInp(out, 2.5, 2.5, Generator())
    assert (out.numpy() == 2.5).all()


def test_draws_continue_where_the_last_one_ended(vendor: Vendor) -> None:
    whole, generator = out_like(vendor, (16,), "float32"), Generator(seed=3)
    vendor.op.UniformInp(whole, 0.0, 1.0, generator)
    parts, again = [out_like(vendor, (8,), "float32") for _ in range(2)], Generator(seed=3)
    for part in parts:
        vendor.op.UniformInp(part, 0.0, 1.0, again)
    assert np.array_equal(np.concatenate([p.numpy() for p in parts]), whole.numpy())
    assert again.offset == generator.offset == 4


def test_threads_do_not_change_the_numbers(vendor: Vendor) -> None:
    large, small = out_like(vendor, (200_000,), "float32"), out_like(vendor, (64,), "float32")
    vendor.op.UniformInp(large, 0.0, 1.0, Generator(seed=11))
    vendor.op.UniformInp(small, 0.0, 1.0, Generator(seed=11))
    assert np.array_equal(large.numpy()[:64], small.numpy())
    tail = out_like(vendor, (4,), "float32")
    vendor.op.UniformInp(tail, 0.0, 1.0, Generator(seed=11, offset=49_999))
    assert np.array_equal(large.numpy()[-4:], tail.numpy())


@pytest.mark.parametrize("dtype", FLOATS)
def test_normal_numbers_come_in_pairs(vendor: Vendor, dtype: str) -> None:
    out, generator = out_like(vendor, (10,), dtype), Generator(seed=21, offset=2)
    vendor.op.NormalInp(out, 1.0, 2.0, generator)
    if dtype == "float64":
        drawn = units(21, 2, 10, dtype)
        u, v = drawn[0::2] + Exact(2) ** -54, drawn[1::2]
    else:
        drawn = words(21, 2, 12).astype(Exact)
        u, v = (drawn[0::2] + Exact(0.5)) / 2**32, drawn[1::2] / 2**32
    radius, angle = np.sqrt(-2 * np.log(u)), 2 * Exact(np.pi) * v
    z = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()[:10]
    # The angle is rounded to the type before its sine is computed.
    check(
        out,
        1 + 2 * z,
        OpClass.REDUCTION,
        "NormalInp",
        reduction_length=16,
        magnitude=np.full(10, 13.0),
    )
    assert generator.offset == 2 + (5 if dtype == "float64" else 3)


def test_normal_with_tensors(vendor: Vendor) -> None:
    mean, std = numbers((4, 5), "float32", 161), np.abs(numbers((4, 5), "float32", 162))
    m, s = place(vendor, mean, "float32")[0], place(vendor, std, "float32")[0]
    plain = out_like(vendor, (4, 5), "float32")
    vendor.op.Normal(plain, 0.0, 1.0, Generator(seed=4))
    z = plain.numpy()
    cases = {
        "NormalTensorScalar": ((m, 2.0), mean.astype(np.float32) + z * 2),
        "NormalScalarTensor": ((3.0, s), 3 + z * std.astype(np.float32)),
        "NormalTensor": ((m, s), mean.astype(np.float32) + z * std.astype(np.float32)),
    }
    for name, (arguments, want) in cases.items():
        out = out_like(vendor, (4, 5), "float32")
        vendor.op[f"diopi{name}"](out, *arguments, Generator(seed=4))
        assert np.allclose(out.numpy(), want, rtol=1e-6, atol=1e-6), name


def test_normal_tensors_are_broadcast(vendor: Vendor) -> None:
    mean, std = numbers((3, 1, 5), "float32", 166), np.abs(numbers((4, 1), "float32", 167))
    m, s = (place(vendor, each, "float32", "transposed")[0] for each in (mean, std))
    out, plain = (out_like(vendor, (3, 4, 5), "float32") for _ in range(2))
    vendor.op.Normal(plain, 0.0, 1.0, Generator(seed=4))
    vendor.op.NormalTensor(out, m, s, Generator(seed=4))
    want = mean.astype(np.float32) + plain.numpy() * std.astype(np.float32)
    assert np.allclose(out.numpy(), want, rtol=1e-6, atol=1e-6)
    with pytest.raises(OperatorError, match=r"mean has 15 elements .* cannot be broadcast"):
        vendor.op.NormalTensor(out_like(vendor, (5, 3), "float32"), m, s, Generator())


def test_normal_moments(vendor: Vendor) -> None:
    out = out_like(vendor, (400_000,), "float32")
    vendor.op.NormalInp(out, 0.0, 1.0, Generator(seed=31))
    x = out.numpy().astype(np.float64)
    # Five standard errors of each moment.
    assert abs(x.mean()) < 5 / np.sqrt(x.size)
    assert abs(x.var() - 1) < 5 * np.sqrt(2 / x.size)
    assert abs((x**3).mean()) < 5 * np.sqrt(15 / x.size)
    assert abs((x**4).mean() - 3) < 5 * np.sqrt(96 / x.size)
    assert abs(np.mean(x[:-1] * x[1:])) < 5 / np.sqrt(x.size)


@pytest.mark.parametrize("dtype", [*INTS, *WIDE, "float32"])
def test_random_integers(vendor: Vendor, dtype: str) -> None:
    out, generator = out_like(vendor, (1000,), dtype), Generator(seed=44)
    vendor.op.RandomInp(out, 5, 15, generator)
    assert out.numpy().tolist() == integers(44, 0, 1000, 5, 15)
    assert generator.offset == 250


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        ("int32", 0, 3 << 22),
        ("int32", -(1 << 24), 0),
        ("int64", 0, 10**9),
        ("int64", -5, 3 * 2**30 - 5),
        ("int64", -(1 << 62), 1 << 62),
        # Half of all words are rejected.
        ("int64", -(1 << 62), (1 << 62) + 1),
        ("int64", -(1 << 63), (1 << 63) - 1),
        ("uint32", 0, (1 << 32) - 1),
        ("uint64", 0, (1 << 63) - 1),
        ("float64", -(1 << 40), 3 << 40),
    ],
)
def test_random_integers_of_wide_ranges(vendor: Vendor, dtype: str, low: int, high: int) -> None:
    seed, offset = (7 << 40) + 45, (1 << 32) - 1
    out, generator = out_like(vendor, (3, 7), dtype, "transposed"), Generator(seed, offset)
    vendor.op.RandomInp(out, low, high, generator)
    assert out.numpy().ravel().tolist() == integers(seed, offset, 21, low, high)
    assert generator.offset == offset + (11 if high - low > 1 << 24 else 6)


@pytest.mark.parametrize(
    ("dtype", "low", "end"),
    [
        ("int64", -(1 << 63), 1 << 63),
        ("uint64", 0, 1 << 64),
        ("uint64", 5, 1 << 64),
        ("uint32", 0, 1 << 32),
        ("uint16", 9, 1 << 16),
        ("int8", -128, 128),
        ("float64", 0, (1 << 53) + 1),
    ],
)
def test_random_integers_up_to_the_largest(vendor: Vendor, dtype: str, low: int, end: int) -> None:
    out = out_like(vendor, (50,), dtype)
    vendor.op.RandomInp(out, low, None, Generator(seed=46, offset=3))
    assert out.numpy().tolist() == integers(46, 3, 50, low, end)


@pytest.mark.parametrize("dtype", [*INTS, *WIDE, "bool", "float16", "bfloat16"])
def test_random_integers_reach_both_ends(vendor: Vendor, dtype: str) -> None:
    low, high = (0, 2) if dtype == "bool" else (3, 10)
    out = out_like(vendor, (1000,), dtype)
    vendor.op.RandomInp(out, low, high, Generator(seed=47))
    values = out.float32() if dtype == "bfloat16" else out.numpy()
    assert np.unique(values).astype(int).tolist() == list(range(low, high))


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        ("uint8", 0, 257),
        ("uint8", -1, 5),
        ("int8", -129, 5),
        ("int8", 0, 129),
        ("bool", 0, 3),
        ("uint64", -1, 5),
        ("int32", 1 << 31, None),
        ("uint32", 0, (1 << 32) + 1),
    ],
)
def test_random_integers_that_the_dtype_has_not_are_refused(
    vendor: Vendor, dtype: str, low: int, high: int | None
) -> None:
    out = out_like(vendor, (3,), dtype)
    with pytest.raises(OperatorError, match="exceeds that of the dtype"):
        vendor.op.RandomInp(out, low, high, Generator())
    assert np.array_equal(out.numpy(), out_like(vendor, (3,), dtype).numpy())


@pytest.mark.parametrize(("dtype", "last"), [("uint8", 255), ("bool", 1), ("float16", 2048)])
def test_random_without_an_end_covers_the_dtype(vendor: Vendor, dtype: str, last: int) -> None:
    out = out_like(vendor, (20_000,), dtype)
    vendor.op.RandomInp(out, 0, None, Generator(seed=46))
    values = np.unique(out.numpy().astype(np.int64))
    assert values[0] == 0
    assert last * 0.99 <= values[-1] <= last
    assert all(b > a for a, b in pairwise(values))


def test_empty_ranges_are_refused(vendor: Vendor) -> None:
    out = out_like(vendor, (2,), "float32")
    with pytest.raises(OperatorError, match="empty"):
        vendor.op.UniformInp(out, 2.0, 1.0, Generator())
    with pytest.raises(OperatorError, match="empty"):
        vendor.op.RandomInp(out, 2, 2, Generator())
    for bounds in ((-np.inf, 0.0), (0.0, np.inf)):
        with pytest.raises(OperatorError, match="is infinite"):
            vendor.op.UniformInp(out, *bounds, Generator())
    with pytest.raises(OperatorError, match="standard deviation"):
        vendor.op.NormalInp(out, 0.0, -1.0, Generator())
    deviations = vendor.tensor(np.array([1.0, -1.0], np.float32))
    with pytest.raises(OperatorError, match="all elements of std"):
        vendor.op.NormalScalarTensor(out, 0.0, deviations, Generator())
