"""Rotary position embedding."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from referenced import Expected, agree, run
from support import FLOATS, LAYOUTS, Array, numbers, out_like, place


def turned(
    first: Array, second: Array, angles: tuple[Array, ...]
) -> tuple[Array, Array, Array, Array]:
    """Both coordinates of pairs, and the sizes of the terms that they are made of."""
    cos, sin, cos_of_second, sin_of_second = angles
    return (
        first * cos - second * sin,
        second * cos_of_second + first * sin_of_second,
        np.abs(first * cos) + np.abs(second * sin),
        np.abs(second * cos_of_second) + np.abs(first * sin_of_second),
    )


def rotary_embedding(
    x: Array, cos: Array, sin: Array, conj: bool, interleaved: bool
) -> dict[str, Expected]:
    half = x.shape[-1] // 2
    pairs = (
        x.reshape(*x.shape[:-1], half, 2)
        if interleaved
        else np.moveaxis(x.reshape(*x.shape[:-1], 2, half), -2, -1)
    )
    sin = -sin if conj else sin
    a, b, size_a, size_b = turned(pairs[..., 0], pairs[..., 1], (cos, sin, cos, sin))

    def joined(first: Array, second: Array) -> Array:
        axis = -1 if interleaved else -2
        return np.stack([first, second], axis=axis).reshape(x.shape)

    return {"out": Expected(joined(a, b), 3, joined(size_a, size_b))}


def rotary_embedding_v2(
    query: Array, key: Array, cos: Array, sin: Array, dim: int
) -> dict[str, Expected]:
    def rotated(x: Array) -> Expected:
        flat = x.ndim == 2
        heads = x.reshape(x.shape[0], -1, dim) if flat else x
        angles = [a[:, None] if flat and a.ndim == 2 else a for a in (cos, sin)]
        half = dim // 2
        c, s = angles
        a, b, size_a, size_b = turned(
            heads[..., :half],
            heads[..., half:],
            (c[..., :half], s[..., :half], c[..., half:], s[..., half:]),
        )
        value = np.concatenate([a, b], axis=-1).reshape(x.shape)
        return Expected(value, 3, np.concatenate([size_a, size_b], axis=-1).reshape(x.shape))

    return {"query": rotated(query), "key": rotated(key)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("interleaved", [True, False])
@pytest.mark.parametrize("conj", [True, False])
@pytest.mark.parametrize("dtype", FLOATS)
def test_rotation(vendor: Vendor, dtype: str, conj: bool, interleaved: bool, layout: str) -> None:
    for shape, angles in (((3, 4, 6), (4, 3)), ((2, 8), (2, 4)), ((6,), ()), ((0, 4), (2,))):
        run(
            vendor, "diopiRotaryEmbedding", rotary_embedding, dtype, layout,
            x=numbers(shape, dtype, 1), cos=numbers(angles, dtype, 2, -1, 1),
            sin=numbers(angles, dtype, 3, -1, 1), conj=conj, interleaved=interleaved,
        )  # fmt: skip


@pytest.mark.parametrize("interleaved", [True, False])
def test_output_may_be_the_input(vendor: Vendor, interleaved: bool) -> None:
    x, given = place(vendor, numbers((5, 8), "float32", 4), "float32")
    c, cos = place(vendor, numbers((5, 4), "float32", 5), "float32")
    s, sin = place(vendor, numbers((5, 4), "float32", 6), "float32")
    vendor.op.RotaryEmbedding(x, x, c, s, False, interleaved)
    want = rotary_embedding(given, cos, sin, False, interleaved)["out"]
    agree(x, want, OpClass.ROUNDING, "RotaryEmbedding")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_query_and_key(vendor: Vendor, dtype: str, layout: str) -> None:
    for query, key, angles in (
        ((5, 12), (5, 8), (5, 4)),
        ((2, 5, 3, 4), (2, 5, 1, 4), (5, 1, 4)),
        ((5, 12), (5, 4), (5, 1, 4)),
    ):
        run(
            vendor, "diopiRotaryEmbeddingV2", rotary_embedding_v2, dtype, layout,
            query=numbers(query, dtype, 7), key=numbers(key, dtype, 8),
            cos=numbers(angles, dtype, 9, -1, 1), sin=numbers(angles, dtype, 10, -1, 1), dim=4,
        )  # fmt: skip


def test_what_has_no_pairs(vendor: Vendor) -> None:
    odd, angle = out_like(vendor, (2, 3), "float32"), out_like(vendor, (2, 1), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiRotaryEmbedding\].* even length"):
        vendor.op.RotaryEmbedding(odd, odd, angle, angle, False, False)
    with pytest.raises(OperatorError, match=r"dim is 3; it must be even"):
        vendor.op.RotaryEmbeddingV2(odd, odd, odd, odd, 3)
    even = out_like(vendor, (2, 4), "float32")
    wrong = out_like(vendor, (3,), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiRotaryEmbedding\] cos has 3 elements"):
        vendor.op.RotaryEmbedding(even, even, wrong, angle, False, False)
