"""Permutations and weighted draws: the stream they take, and what they may return."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Generator, OperatorError, Vendor
from diopi_proto.tolerance.distribution import compare_distribution
from support import FLOATS, NUMBERS, Array, out_like, place
from test_random import below, words


def long_words(seed: int, offset: int, count: int) -> list[int]:
    w = words(seed, offset, 2 * count)
    return [int(low) | int(high) << 32 for low, high in zip(w[0::2], w[1::2], strict=True)]


def units(seed: int, offset: int, count: int) -> Array:
    return np.array([word >> 11 for word in long_words(seed, offset, count)]) * 2.0**-53


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("layout", ["dense", "sliced"])
def test_permutations_exchange_elements(vendor: Vendor, dtype: str, layout: str) -> None:
    n, seed, offset = 101, (3 << 32) + 1, 5
    generator = Generator(seed=seed, offset=offset)
    out = out_like(vendor, (n,), dtype, layout)
    vendor.op.Randperm(out, n, generator)
    want = list(range(n))
    for i in range(n):
        other = i + below(seed, offset, i, n - i, long=True)
        want[i], want[other] = want[other], want[i]
    got = out.float32() if dtype in FLOATS else out.numpy()
    assert got.astype(np.int64).tolist() == want
    assert generator.offset == offset + (n + 1) // 2


@pytest.mark.parametrize("n", [1, 2, 3000])
def test_permutations_of_other_sizes(vendor: Vendor, n: int) -> None:
    out = out_like(vendor, (n,), "int64")
    vendor.op.Randperm(out, n, Generator(seed=77, offset=1))
    want = list(range(n))
    for i in range(n):
        other = i + below(77, 1, i, n - i, long=True)
        want[i], want[other] = want[other], want[i]
    assert out.numpy().tolist() == want


def test_permutation_of_nothing_and_of_the_wrong_size(vendor: Vendor) -> None:
    generator = Generator(seed=1)
    vendor.op.Randperm(out_like(vendor, (0,), "int64"), 0, generator)
    assert generator.offset == 0
    with pytest.raises(OperatorError, match="3 elements for n = 4"):
        vendor.op.Randperm(out_like(vendor, (3,), "int64"), 4, generator)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", ["dense", "transposed", "sliced"])
def test_draws_with_replacement_invert_the_sums(vendor: Vendor, dtype: str, layout: str) -> None:
    weights, exact = place(vendor, [[1, 0, 2, 5], [0, 0, 3, 0]], dtype, layout)
    out, generator = out_like(vendor, (2, 9), "int64", layout), Generator(seed=71, offset=2)
    vendor.op.Multinomial(out, weights, 9, True, generator)
    sums = np.cumsum(exact.astype(np.float64), axis=1)
    drawn = units(71, 2, 18).reshape(2, 9) * sums[:, -1:]
    want = np.stack([np.searchsorted(s, d, side="right") for s, d in zip(sums, drawn, strict=True)])
    assert np.array_equal(out.numpy(), want)
    assert (out.numpy()[1] == 2).all()
    assert generator.offset == 2 + 9


@pytest.mark.parametrize("samples", [2, 7, 40])
def test_draws_without_replacement_order_exponential_numbers(vendor: Vendor, samples: int) -> None:
    weights = np.linspace(0.5, 4, 40).astype(np.float32)
    out, generator = out_like(vendor, (samples,), "int64"), Generator(seed=72)
    vendor.op.Multinomial(out, vendor.tensor(weights), samples, False, generator)
    keys = -np.log1p(-units(72, 0, 40)) / weights.astype(np.float64)
    assert np.array_equal(out.numpy(), np.argsort(keys)[:samples])
    assert generator.offset == 20


def test_rows_are_drawn_without_replacement_apart(vendor: Vendor) -> None:
    weights = np.random.default_rng(7).uniform(0.1, 3, (5, 333)).astype(np.float32)
    out, generator = out_like(vendor, (5, 20), "int64"), Generator(seed=79, offset=1)
    vendor.op.Multinomial(out, vendor.tensor(weights), 20, False, generator)
    keys = -np.log1p(-units(79, 1, weights.size)).reshape(weights.shape) / weights.astype(float)
    assert np.array_equal(out.numpy(), np.argsort(keys, axis=1)[:, :20])
    assert generator.offset == 1 + (weights.size + 1) // 2


def test_long_rows_are_drawn_with_replacement(vendor: Vendor) -> None:
    weights = np.random.default_rng(8).integers(0, 4, (3, 700)).astype(np.float32)
    out = out_like(vendor, (3, 50), "int64")
    vendor.op.Multinomial(out, vendor.tensor(weights), 50, True, Generator(seed=80))
    sums = np.cumsum(weights.astype(np.float64), axis=1)
    drawn = units(80, 0, 150).reshape(3, 50) * sums[:, -1:]
    want = np.stack([np.searchsorted(s, d, side="right") for s, d in zip(sums, drawn, strict=True)])
    assert np.array_equal(out.numpy(), want)
    assert (np.take_along_axis(weights, out.numpy(), 1) > 0).all()


def test_the_first_row_that_is_wrong_is_reported(vendor: Vendor) -> None:
    weights = vendor.tensor(np.array([[1, 1], [0, 0], [1, -1]], np.float32))
    with pytest.raises(OperatorError, match="sum of prob"):
        vendor.op.Multinomial(out_like(vendor, (3, 1), "int64"), weights, 1, True, Generator())


def test_weightless_categories_come_last(vendor: Vendor) -> None:
    out = out_like(vendor, (4,), "int64")
    weights = vendor.tensor(np.array([0, 2, 0, 1], np.float32))
    vendor.op.Multinomial(out, weights, 4, False, Generator(seed=73))
    assert sorted(out.numpy()[:2]) == [1, 3]
    assert out.numpy()[2:].tolist() == [0, 2]


def test_draws_follow_the_weights(vendor: Vendor) -> None:
    weights = np.arange(1, 6, dtype=np.float64)
    out = out_like(vendor, (100_000,), "int64")
    vendor.op.Multinomial(out, vendor.tensor(weights), 100_000, True, Generator(seed=74))
    steps = np.concatenate([[0], np.cumsum(weights) / 15])
    result = compare_distribution(
        out.numpy(), lambda k: steps[k.astype(int) + 1], lambda k: steps[k.astype(int)]
    )
    assert result.ok, result.report("Multinomial")


def test_wrong_weights_are_refused(vendor: Vendor) -> None:
    out = out_like(vendor, (1,), "int64")
    for bad, message in (
        ([1, -1], "inf"),
        ([1, np.nan], "inf"),
        ([np.inf, 1], "inf"),
        ([0, 0], "sum of prob"),
    ):
        with pytest.raises(OperatorError, match=message):
            vendor.op.Multinomial(
                out, vendor.tensor(np.array(bad, np.float32)), 1, True, Generator()
            )
    with pytest.raises(OperatorError, match="3 samples of 2 categories without"):
        vendor.op.Multinomial(
            out_like(vendor, (3,), "int64"),
            vendor.tensor(np.ones(2, np.float32)),
            3,
            False,
            Generator(),
        )
