"""Rotary position embedding: each pair of elements is rotated by an angle.

Source: Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021, equation 34.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference

LENGTH = 2
"""Number of products in an element."""


def _rotate(first: Array, second: Array, angles: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return both coordinates of the rotated pairs, and the magnitudes of their terms."""
    cos, sin, cos_of_second, sin_of_second = angles
    return (
        first * cos - second * sin,
        second * cos_of_second + first * sin_of_second,
        np.abs(first * cos) + np.abs(second * sin),
        np.abs(second * cos_of_second) + np.abs(first * sin_of_second),
    )


@reference("diopiRotaryEmbedding")
def rotary_embedding(
    *, x: Array, cos: Array, sin: Array, conj: bool, interleaved: bool
) -> dict[str, Any]:
    half = x.shape[-1] // 2
    axis = -1 if interleaved else -2
    pairs = np.moveaxis(
        x.reshape(*x.shape[:-1], *((half, 2) if interleaved else (2, half))), axis, -1
    )
    turn = -sin if conj else sin
    a, b, size_a, size_b = _rotate(pairs[..., 0], pairs[..., 1], (cos, turn, cos, turn))

    def joined(first: Array, second: Array) -> Array:
        return np.stack([first, second], axis=axis).reshape(x.shape)

    return {"out": Expected(joined(a, b), LENGTH, joined(size_a, size_b), op_class="reduction")}


@reference("diopiRotaryEmbeddingV2")
def rotary_embedding_v2(
    *, query: Array, key: Array, cos: Array, sin: Array, dim: int
) -> dict[str, Any]:
    half = dim // 2

    def rotate(x: Array) -> Expected:
        flat = x.ndim == 2
        heads = x.reshape(x.shape[0], -1, dim) if flat else x
        c, s = (a[:, None] if flat and a.ndim == 2 else a for a in (cos, sin))
        angles = (c[..., :half], s[..., :half], c[..., half:], s[..., half:])
        parts = _rotate(heads[..., :half], heads[..., half:], angles)
        value, size = (
            np.concatenate(parts[at : at + 2], axis=-1).reshape(x.shape) for at in (0, 2)
        )
        return Expected(value, LENGTH, size, op_class="reduction")

    return {"query": rotate(query), "key": rotate(key)}
