"""Tests of matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, INTS, LAYOUTS, Array, check, numbers, out_like, place


@pytest.fixture(params=["libraries", "portable"])
def vendor(request: pytest.FixtureRequest, vendor: Vendor, portable_vendor: Vendor) -> Vendor:
    """The vendor with the installed libraries, and without."""
    return vendor if request.param == "libraries" else portable_vendor


def product_check(
    out: Any, left: Array, right: Array, name: str, want: Array | None = None
) -> None:
    size = np.matmul(np.abs(left), np.abs(right))
    reference = np.matmul(left, right) if want is None else want
    check(
        out,
        reference,
        OpClass.MATMUL,
        name,
        reduction_length=left.shape[-1],
        magnitude=size + np.abs(reference),
    )


@pytest.mark.parametrize("layouts", [(a, b) for a in LAYOUTS for b in LAYOUTS], ids="-".join)
@pytest.mark.parametrize(
    "shape",
    [
        (1, 1, 1),
        (1, 40, 7),
        (40, 1, 7),
        (3, 5, 2),
        (17, 33, 70),
        (2, 600, 300),
        (61, 50, 300),
        (7, 9, 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", FLOATS)
def test_mm(
    vendor: Vendor, dtype: str, shape: tuple[int, int, int], layouts: tuple[str, str]
) -> None:
    m, n, k = shape
    a, x = place(vendor, numbers((m, k), dtype, 111), dtype, layouts[0])
    b, y = place(vendor, numbers((k, n), dtype, 112), dtype, layouts[1])
    out = out_like(vendor, (m, n), dtype, layouts[0])
    vendor.op.Mm(out, a, b)
    product_check(out, x, y, "Mm")


def test_mm_larger_than_every_block(vendor: Vendor) -> None:
    a, x = place(vendor, numbers((530, 700), "float32", 113), "float32")
    b, y = place(vendor, numbers((700, 2300), "float32", 114), "float32")
    out = out_like(vendor, (530, 2300), "float32")
    vendor.op.Mm(out, a, b)
    product_check(out, x.astype(np.float64), y.astype(np.float64), "Mm")


@pytest.mark.parametrize("dtype", INTS)
def test_mm_of_integers_wraps(vendor: Vendor, dtype: str) -> None:
    a, x = place(vendor, numbers((5, 9), dtype, 115, -90, 90), dtype)
    b, y = place(vendor, numbers((9, 4), dtype, 116, -90, 90), dtype)
    out = out_like(vendor, (5, 4), dtype)
    vendor.op.Mm(out, a, b)
    assert np.array_equal(out.numpy(), np.matmul(x, y))


def test_mm_of_no_terms_is_zero(vendor: Vendor) -> None:
    out = out_like(vendor, (3, 4), "float32")
    vendor.op.Mm(out, out_like(vendor, (3, 0), "float32"), out_like(vendor, (0, 4), "float32"))
    assert not out.numpy().any()


def test_mm_names_shapes_that_do_not_fit(vendor: Vendor) -> None:
    with pytest.raises(OperatorError, match=r"\[diopiMm\] 2x3 times 4x5 does not give 2x5"):
        vendor.op.Mm(*(out_like(vendor, s, "float32") for s in ((2, 5), (2, 3), (4, 5))))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_bmm_and_baddbmm(vendor: Vendor, dtype: str, layout: str) -> None:
    a, x = place(vendor, numbers((4, 9, 20), dtype, 117), dtype, layout)
    b, y = place(vendor, numbers((4, 20, 11), dtype, 118), dtype, layout)
    out = out_like(vendor, (4, 9, 11), dtype, layout)
    vendor.op.Bmm(out, a, b)
    product_check(out, x, y, "Bmm")
    source = numbers((4, 9, 11), dtype, 119)
    c, z = place(vendor, source, dtype)
    want = np.longdouble(0.5) * z + 2 * np.matmul(x, y)
    vendor.op.Baddbmm(out, c, a, b, 0.5, 2.0)
    product_check(out, 2 * x, y, "Baddbmm", want)
    vendor.op.BaddbmmInp(c, a, b, 0.5, 2.0)
    product_check(c, 2 * x, y, "BaddbmmInp", want)


@pytest.mark.parametrize("shape", [(9, 11), (11,), (9, 1), (1, 1), ()], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_addmm_broadcasts_its_input(vendor: Vendor, dtype: str, shape: tuple[int, ...]) -> None:
    a, x = place(vendor, numbers((9, 300), dtype, 120), dtype)
    b, y = place(vendor, numbers((300, 11), dtype, 121), dtype, "transposed")
    c, z = place(vendor, numbers(shape, dtype, 122), dtype)
    out = out_like(vendor, (9, 11), dtype)
    vendor.op.Addmm(out, c, a, b, 3, 0.5)
    product_check(out, x, y, "Addmm", 3 * z + np.matmul(x, y) / 2)


@pytest.mark.parametrize("n", [2, 80])
@pytest.mark.parametrize("dtype", FLOATS)
def test_addmm_with_alpha_zero_does_not_read_its_matrices(
    vendor: Vendor, dtype: str, n: int
) -> None:
    infinite = place(vendor, np.full((n, n), np.inf), dtype)[0]
    summand, x = place(vendor, np.arange(n * n).reshape(n, n) / 8, dtype)
    out = out_like(vendor, (n, n), dtype)
    vendor.op.Addmm(out, summand, infinite, infinite, 1, 0)
    check(out, x, OpClass.EXACT, "Addmm")
    vendor.op.Addmm(out, summand, infinite, infinite, 0, 0)
    check(out, np.zeros((n, n)), OpClass.EXACT, "Addmm")


def test_addmm_with_beta_zero_does_not_read_its_input(vendor: Vendor) -> None:
    a = vendor.tensor(np.ones((2, 2), np.float32))
    out = vendor.tensor(np.full((2, 2), np.nan, np.float32))
    vendor.op.Addmm(out, vendor.tensor(np.full((2, 2), np.nan, np.float32)), a, a, 0, 1)
    assert out.numpy().tolist() == [[2.0, 2.0], [2.0, 2.0]]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((7,), (7,)),
        ((5, 7), (7,)),
        ((7,), (7, 4)),
        ((3, 5, 7), (7,)),
        ((7,), (3, 7, 4)),
        ((3, 5, 7), (7, 4)),
        ((2, 3, 5, 7), (7, 4)),
        ((2, 1, 5, 7), (3, 7, 4)),
        ((5, 7), (3, 7, 4)),
        ((0, 5, 7), (7, 4)),
    ],
    ids=str,
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_matmul_of_any_dimensions(
    vendor: Vendor, left: tuple[int, ...], right: tuple[int, ...], layout: str
) -> None:
    a, x = place(vendor, numbers(left, "float32", 123), "float32", layout)
    b, y = place(vendor, numbers(right, "float32", 124), "float32", layout)
    want = np.matmul(x, y)
    out = out_like(vendor, want.shape, "float32")
    vendor.op.Matmul(out, a, b)
    check(
        out,
        want,
        OpClass.MATMUL,
        "Matmul",
        reduction_length=7,
        magnitude=np.matmul(np.abs(x), np.abs(y)),
    )
