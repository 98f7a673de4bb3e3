"""Random number stream and distributions of the contract, in plain integers.

docs/random.md of dl-diopi-proto specifies the algorithms and names the sources.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .reference import Array

Number = np.longdouble
State = tuple[int, int]
"""Seed and offset."""
ATTEMPTS = 128


@lru_cache(1 << 12)
def philox(seed: int, step: int, attempt: int = 0) -> tuple[int, ...]:
    """Return the four words of one counter of Philox4x32-10 (Salmon et al., SC 2011)."""
    key = [seed & 0xFFFFFFFF, seed >> 32]
    counter = [step & 0xFFFFFFFF, step >> 32, attempt & 0xFFFFFFFF, attempt >> 32]
    for _ in range(10):
        left, right = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [
            (right >> 32) ^ counter[1] ^ key[0],
            right & 0xFFFFFFFF,
            (left >> 32) ^ counter[3] ^ key[1],
            left & 0xFFFFFFFF,
        ]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return tuple(counter)


def word(state: State, element: int, attempt: int, long: bool) -> int:
    """Return the 32-bit word of an element, or the 64-bit word if ``long``."""
    seed, offset = state
    if not long:
        return philox(seed, offset + element // 4, attempt)[element % 4]
    low, high = philox(seed, offset + element // 2, attempt)[element % 2 * 2 :][:2]
    return low | high << 32


def below(state: State, element: int, count: int, long: bool) -> int:
    """Return an unbiased integer in [0, count) (Lemire, 2019)."""
    end = 1 << (64 if long else 32)
    product = 0
    for attempt in range(ATTEMPTS):
        product = word(state, element, attempt, long) * count
        if product % end >= end % count:
            break
    return product // end


def units(state: State, count: int, dtype: str) -> Array:
    """Return the uniform numbers in [0, 1) from which those of a dtype are derived."""
    bits, long = (53, True) if dtype == "float64" else (24, False)
    shift = (64 if long else 32) - bits
    drawn = [word(state, at, 0, long) >> shift for at in range(count)]
    return np.array(drawn).astype(Number) / Number(2) ** bits


def normals(state: State, count: int, dtype: str) -> tuple[Array, Array]:
    """Return standard normal numbers (Box and Muller, 1958) and the radius of each."""
    even = count + count % 2
    if dtype == "float64":
        drawn = units(state, even, dtype)
        u, v = drawn[0::2] + Number(2) ** -54, drawn[1::2]
    else:
        drawn = np.array([word(state, at, 0, False) for at in range(even)]).astype(Number)
        u, v = (drawn[0::2] + Number(0.5)) / 2**32, drawn[1::2] / 2**32
    radius, angle = np.sqrt(-2 * np.log(u)), 2 * np.arccos(Number(-1)) * v
    both = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return both.ravel()[:count], radius.repeat(2)[:count]


def chances(state: State, probabilities: Array) -> Array:
    """Return Bernoulli samples: True where a uniform number of 96 bits is below the probability."""
    flat = np.ravel(probabilities).astype(Number)
    found = [
        sum(Number(word(state, at, k, False)) / Number(2) ** (32 * k + 32) for k in range(3)) < p
        for at, p in enumerate(flat)
    ]
    return np.array(found, bool).reshape(probabilities.shape)
