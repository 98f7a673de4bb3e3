"""Reproducible random elements from raw Philox words and our own transforms.

NumPy guarantees the raw words of its bit generators across versions, but not its distributions.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from diopi_proto.schema import expand_dtypes
from diopi_proto.tolerance import bfloat16_to_float32, float32_to_bfloat16

Array = npt.NDArray[Any]

FLOATS = expand_dtypes("float")
COMPLEX = expand_dtypes("complex")

EDGES = (
    *(float("nan"), 1.0, float("inf"), -0.0, 0.5, float("-inf"), 0.0, -1.0, "tiny", -2.5),
    *("max", 2.0, "-max", "smallest normal", 0.75, "-tiny", -0.5),
)
"""Values at which functions and their implementations often fail, between ordinary numbers."""
SPECIAL = tuple(x for x in EDGES if x not in ("max", "-max"))
"""Edge values without those whose sums overflow."""


def words(key: str, count: int) -> npt.NDArray[np.uint64]:
    """Return raw 64-bit words that depend on the key."""
    digest = hashlib.blake2b(key.encode(), digest_size=16).digest()
    generator = np.random.Philox(key=np.frombuffer(digest, "<u8").astype(np.uint64))
    return np.asarray(generator.random_raw(count), np.uint64).reshape(count)


def uniform(key: str, count: int, low: float, high: float) -> Array:
    """Return float64 numbers in [low, high)."""
    unit = (words(key, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.asarray(low + (high - low) * unit)


def integers(key: str, count: int, low: int, high: int) -> Array:
    """Return integers from low to high, both included."""
    span = np.uint64(high - low + 1)
    return np.asarray((words(key, count) % span).astype(np.int64) + low)


def stored(values: npt.ArrayLike, dtype: str) -> Array:
    """Round numbers to the dtype in its NumPy storage format: bfloat16 and complex32 as bits."""
    array = np.asarray(values)
    with np.errstate(all="ignore"):
        if dtype == "complex32":
            parts = np.stack([array.real, array.imag], axis=-1).astype(np.float16)
            return parts.view(np.uint32).reshape(array.shape)
        if dtype == "bfloat16":
            return np.asarray(float32_to_bfloat16(array.astype(np.float32)))
        return array.astype(dtype)


def exact(array: Array, dtype: str, wide: type[np.floating[Any]] = np.longdouble) -> Array:
    """Convert stored elements to ``wide`` or clongdouble exactly; keep integers and bools."""
    if dtype == "bfloat16":
        return np.asarray(bfloat16_to_float32(array)).astype(wide)
    if dtype in FLOATS:
        return array.astype(wide)
    if dtype == "complex32":
        parts = np.ascontiguousarray(array).reshape(*array.shape, 1).view(np.float16)
        return parts.astype(np.longdouble).view(np.clongdouble).reshape(array.shape)
    return array.astype(np.clongdouble) if dtype in COMPLEX else array


def edge_values(dtype: str, special: bool) -> Array:
    """Return the edge values of a dtype in its storage format."""
    if dtype == "bool":
        return np.array([True, False])
    if dtype in COMPLEX:
        part = "float32" if dtype == "complex64" else "float64"
        parts = edge_values(part, special)
        both = np.stack([parts, np.roll(parts, 3)], axis=-1)
        return np.ascontiguousarray(both).view(dtype).reshape(-1)
    if dtype not in FLOATS:
        limits = np.iinfo(dtype)
        return np.array([limits.max, 1, limits.min, 0, 2, limits.max - 1, 7], dtype)
    wide = "float32" if dtype == "bfloat16" else dtype
    limits_of = np.finfo(wide)
    largest = 2.0**127 * (2 - 2.0**-7) if dtype == "bfloat16" else float(limits_of.max)
    tiny = 2.0**-133 if dtype == "bfloat16" else float(limits_of.smallest_subnormal)
    named = {
        "max": largest,
        "-max": -largest,
        "tiny": tiny,
        "-tiny": -tiny,
        "smallest normal": float(limits_of.smallest_normal),
    }
    chosen = SPECIAL if special else EDGES
    return stored(np.array([named[x] if isinstance(x, str) else x for x in chosen]), dtype)


def wrong_everywhere(want: Array, dtype: str) -> Array:
    """Return stored elements that all differ from ``want``, to fill outputs before the call."""
    if dtype == "bool":
        return ~want.astype(bool)
    if dtype not in FLOATS and dtype not in (*COMPLEX, "complex32"):
        return (want.astype(np.int64) + 77).astype(dtype)
    with np.errstate(all="ignore"):
        return stored(np.where(np.isnan(want), 77.0, np.nan), dtype)
