"""Tests of Bernoulli sampling and dropout."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Generator, OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from philox import philox, words
from support import FLOATS, Exact, check, numbers, out_like, place


@pytest.mark.parametrize("dtype", ["float32", "bool", "int64", "uint8"])
def test_bernoulli_scalar(vendor: Vendor, dtype: str) -> None:
    out = out_like(vendor, (1001,), dtype)
    vendor.op.BernoulliScalar(out, 0.3, Generator(seed=41))
    want = words(41, 0, 1001).astype(np.float64) / 2**32 < 0.3
    check(out, want.astype(np.int64), OpClass.EXACT, "BernoulliScalar")
    for p in (0.0, 1.0):
        vendor.op.BernoulliScalar(out, p, Generator(seed=41))
        assert (out.numpy() == p).all()


def test_chances_are_compared_to_their_last_digit(vendor: Vendor) -> None:
    # The first two words of an element are the digits of p: the third one decides.
    first, second, third = (philox(48, 0, attempt)[2] for attempt in range(3))
    digits = Exact(first) / 2**32 + Exact(second) / Exact(2) ** 64
    out = out_like(vendor, (3,), "bool")
    near = float(digits)
    for p in (near, np.nextafter(near, 1), np.nextafter(near, 0)):
        vendor.op.BernoulliScalar(out, p, Generator(seed=48))
        assert out.numpy()[2] == (digits + Exact(third) / Exact(2) ** 96 < Exact(p))


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
    generator, before = Generator(seed=1), mask.numpy()
    vendor.op.Dropout(out, mask, a, 0.25, False, generator)
    assert np.array_equal(a.numpy(), out.numpy())
    assert np.array_equal(mask.numpy(), before)
    assert generator.offset == 0
    vendor.op.Dropout(out, mask, a, 1.0, True, generator)
    assert not out.float32().any()


@pytest.mark.parametrize("kind", ["bool", "uint8"])
@pytest.mark.parametrize("shape", [(2, 3, 1, 1), (1, 3, 1, 4), (4,), (1, 1, 1, 1), ()])
def test_dropout_draws_once_for_each_slice(
    vendor: Vendor, kind: str, shape: tuple[int, ...]
) -> None:
    a, x = place(vendor, numbers((2, 3, 4, 4), "float32", 165, 1, 2), "float32", "transposed")
    out, mask = out_like(vendor, (2, 3, 4, 4), "float32"), out_like(vendor, shape, kind, "sliced")
    generator = Generator(seed=49)
    vendor.op.Dropout(out, mask, a, 0.5, True, generator)
    count = int(np.prod(shape))
    kept = words(49, 0, count).reshape(shape).astype(np.float64) / 2**32 < 0.5
    assert np.array_equal(mask.numpy().astype(np.uint8), kept.astype(np.uint8))
    check(out, np.where(kept, x * 2, 0), OpClass.ROUNDING, "Dropout")
    assert generator.offset == -(-count // 4)
    vendor.op.DropoutInp(a, mask, 0.5, True, Generator(seed=49))
    assert np.array_equal(a.numpy(), out.numpy())


@pytest.mark.parametrize("shape", [(3, 3, 4, 4), (3,), (1, 2, 3, 4, 4)])
def test_dropout_refuses_masks_that_do_not_fit(vendor: Vendor, shape: tuple[int, ...]) -> None:
    a = out_like(vendor, (2, 3, 4, 4), "float32")
    with pytest.raises(OperatorError, match=r"the mask has .* cannot be broadcast"):
        vendor.op.DropoutInp(a, out_like(vendor, shape, "bool"), 0.5, True, Generator())
