"""Tests of weighted draws: their use of the random stream, and their possible results."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Generator, OperatorError, Vendor
from diopi_proto.tolerance.distribution import compare_distribution
from philox import units
from support import FLOATS, Array, out_like, place


def doubles(seed: int, offset: int, count: int) -> Array:
    return units(seed, offset, count, "float64").astype(np.float64)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", ["dense", "transposed", "sliced"])
def test_draws_with_replacement_invert_the_sums(vendor: Vendor, dtype: str, layout: str) -> None:
    weights, exact = place(vendor, [[1, 0, 2, 5], [0, 0, 3, 0]], dtype, layout)
    out, generator = out_like(vendor, (2, 9), "int64", layout), Generator(seed=71, offset=2)
    vendor.op.Multinomial(out, weights, 9, True, generator)
    sums = np.cumsum(exact.astype(np.float64), axis=1)
    drawn = doubles(71, 2, 18).reshape(2, 9) * sums[:, -1:]
    want = np.stack([np.searchsorted(s, d, side="right") for s, d in zip(sums, drawn, strict=True)])
    assert np.array_equal(out.numpy(), want)
    assert (out.numpy()[1] == 2).all()
    assert generator.offset == 2 + 9


@pytest.mark.parametrize("samples", [2, 7, 40])
def test_draws_without_replacement_order_exponential_numbers(vendor: Vendor, samples: int) -> None:
    weights = np.linspace(0.5, 4, 40).astype(np.float32)
    out, generator = out_like(vendor, (samples,), "int64"), Generator(seed=72)
    vendor.op.Multinomial(out, vendor.tensor(weights), samples, False, generator)
    keys = -np.log1p(-doubles(72, 0, 40)) / weights.astype(np.float64)
    assert np.array_equal(out.numpy(), np.argsort(keys)[:samples])
    assert generator.offset == 20


def test_rows_are_drawn_without_replacement_apart(vendor: Vendor) -> None:
    weights = np.random.default_rng(7).uniform(0.1, 3, (5, 333)).astype(np.float32)
    out, generator = out_like(vendor, (5, 20), "int64"), Generator(seed=79, offset=1)
    vendor.op.Multinomial(out, vendor.tensor(weights), 20, False, generator)
    keys = -np.log1p(-doubles(79, 1, weights.size)).reshape(weights.shape) / weights.astype(float)
    assert np.array_equal(out.numpy(), np.argsort(keys, axis=1)[:, :20])
    assert generator.offset == 1 + (weights.size + 1) // 2


def test_long_rows_are_drawn_with_replacement(vendor: Vendor) -> None:
    weights = np.random.default_rng(8).integers(0, 4, (3, 700)).astype(np.float32)
    out = out_like(vendor, (3, 50), "int64")
    vendor.op.Multinomial(out, vendor.tensor(weights), 50, True, Generator(seed=80))
    sums = np.cumsum(weights.astype(np.float64), axis=1)
    drawn = doubles(80, 0, 150).reshape(3, 50) * sums[:, -1:]
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
