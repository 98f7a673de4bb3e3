"""Random numbers: the stream, the positions in it, and the distributions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from diopi_proto import Generator, OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, INTS, Array, check, numbers, out_like, place

DIGITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}


def philox(seed: int, step: int) -> list[int]:
    """The four words of a step, from the definition (Salmon et al., SC 2011) in plain integers."""
    key = [seed & 0xFFFFFFFF, seed >> 32]
    counter = [step & 0xFFFFFFFF, step >> 32, 0, 0]
    for _ in range(10):
        left, right = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [
            (right >> 32) ^ counter[1] ^ key[0],
            right & 0xFFFFFFFF,
            (left >> 32) ^ counter[3] ^ key[1],
            left & 0xFFFFFFFF,
        ]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def words(seed: int, offset: int, count: int) -> Array:
    found = [w for step in range(-(-count // 4)) for w in philox(seed, offset + step)]
    return np.array(found[:count], np.uint64)


def test_reference_matches_the_published_vectors() -> None:
    # The known answer of philox4x32-10 for counter 0 and key 0, from the Random123 distribution.
    assert philox(0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_takes_one_word_per_element(vendor: Vendor, dtype: str) -> None:
    generator = Generator(seed=(5 << 33) + 9, offset=(1 << 32) + 7)
    out = out_like(vendor, (3, 7), dtype, "transposed")
    vendor.op.UniformInp(out, -1.0, 3.0, generator)
    bits = min(DIGITS[dtype], 32)
    drawn = (words((5 << 33) + 9, (1 << 32) + 7, 21) >> np.uint64(32 - bits)).astype(np.longdouble)
    check(
        out, -1 + 4 * drawn.reshape(3, 7) / np.longdouble(2) ** bits, OpClass.ROUNDING, "UniformInp"
    )
    assert generator.offset == (1 << 32) + 7 + 6


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
    drawn = words(21, 2, 12).astype(np.longdouble)
    radius = np.sqrt(-2 * np.log((drawn[0::2] + np.longdouble(0.5)) / 2**32))
    angle = 2 * np.longdouble(np.pi) * drawn[1::2] / 2**32
    z = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()[:10]
    # The angle is rounded to the type before its sine is taken.
    check(
        out,
        1 + 2 * z,
        OpClass.REDUCTION,
        "NormalInp",
        reduction_length=16,
        magnitude=np.full(10, 13.0),
    )
    assert generator.offset == 5


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


@pytest.mark.parametrize("dtype", ["float32", "bool", "int64", "uint8"])
def test_bernoulli_scalar(vendor: Vendor, dtype: str) -> None:
    out = out_like(vendor, (1001,), dtype)
    vendor.op.BernoulliScalar(out, 0.3, Generator(seed=41))
    want = words(41, 0, 1001).astype(np.float64) / 2**32 < 0.3
    check(out, want.astype(np.int64), OpClass.EXACT, "BernoulliScalar")
    for p in (0.0, 1.0):
        vendor.op.BernoulliScalar(out, p, Generator(seed=41))
        assert (out.numpy() == p).all()


def test_bernoulli_of_probabilities(vendor: Vendor) -> None:
    p = numbers((50, 9), "float32", 163, 0, 1).astype(np.float32)
    out = out_like(vendor, (50, 9), "float32")
    vendor.op.Bernoulli(out, vendor.tensor(p), Generator(seed=42))
    want = words(42, 0, 450).reshape(50, 9).astype(np.float64) / 2**32 < p
    assert np.array_equal(out.numpy(), want)
    inout = vendor.tensor(p)
    vendor.op.BernoulliInp(inout, Generator(seed=42))
    assert np.array_equal(inout.numpy(), want)
    with pytest.raises(OperatorError, match="probability"):
        vendor.op.Bernoulli(out, vendor.tensor(p + 2), Generator())


@pytest.mark.parametrize("dtype", FLOATS)
def test_dropout_scales_what_it_keeps(vendor: Vendor, dtype: str) -> None:
    a, x = place(vendor, numbers((40, 9), dtype, 164), dtype, "transposed")
    out, mask = out_like(vendor, (40, 9), dtype), out_like(vendor, (40, 9), "bool")
    vendor.op.Dropout(out, mask, a, 0.25, True, Generator(seed=43))
    want = words(43, 0, 360).reshape(40, 9).astype(np.float64) / 2**32 < 0.75
    assert np.array_equal(mask.numpy(), want)
    check(out, np.where(want, x / np.longdouble(0.75), 0), OpClass.ELEMENTARY, "Dropout")
    vendor.op.DropoutInp(a, mask, 0.25, True, Generator(seed=43))
    assert np.array_equal(a.numpy(), out.numpy())
    generator = Generator(seed=1)
    vendor.op.Dropout(out, mask, a, 0.25, False, generator)
    assert np.array_equal(a.numpy(), out.numpy())
    assert mask.numpy().all()
    assert generator.offset == 0
    vendor.op.Dropout(out, mask, a, 1.0, True, generator)
    assert not out.float32().any()


@pytest.mark.parametrize("dtype", [*INTS, "float32"])
def test_random_integers(vendor: Vendor, dtype: str) -> None:
    out, generator = out_like(vendor, (1000,), dtype), Generator(seed=44)
    vendor.op.RandomInp(out, 5, 15, generator)
    assert np.array_equal(out.numpy(), (words(44, 0, 1000) % 10 + 5).astype(dtype))
    assert generator.offset == 250


def test_random_integers_of_64_bits_take_two_words(vendor: Vendor) -> None:
    out, generator = out_like(vendor, (5,), "int64"), Generator(seed=45)
    vendor.op.RandomInp(out, -(1 << 62), 1 << 62, generator)
    w = words(45, 0, 12)
    long = w[0::2] | (w[1::2] << np.uint64(32))
    want = (long % np.uint64(1 << 63)).astype(object)[:5] - (1 << 62)
    assert out.numpy().tolist() == want.tolist()
    assert generator.offset == 3


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
    with pytest.raises(OperatorError, match="standard deviation"):
        vendor.op.NormalInp(out, 0.0, -1.0, Generator())
    deviations = vendor.tensor(np.array([1.0, -1.0], np.float32))
    with pytest.raises(OperatorError, match="all elements of std"):
        vendor.op.NormalScalarTensor(out, 0.0, deviations, Generator())
