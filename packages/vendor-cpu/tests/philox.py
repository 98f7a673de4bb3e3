"""The random stream and the numbers drawn from it, in plain integers."""

from __future__ import annotations

import numpy as np

from support import Array, Exact


def philox(seed: int, step: int, attempt: int = 0) -> list[int]:
    """Return the four words of a step, from the definition (Salmon et al., SC 2011) in plain
    integers."""
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
    return counter


def words(seed: int, offset: int, count: int) -> Array:
    found = [w for step in range(-(-count // 4)) for w in philox(seed, offset + step)]
    return np.array(found[:count], np.uint64)


def element_word(seed: int, offset: int, element: int, attempt: int, long: bool) -> int:
    """Return the word of an element, or the two words of a 64-bit one."""
    if not long:
        return philox(seed, offset + element // 4, attempt)[element % 4]
    low, high = philox(seed, offset + element // 2, attempt)[element % 2 * 2 :][:2]
    return low | high << 32


def below(seed: int, offset: int, element: int, count: int, long: bool) -> int:
    """Return an integer in [0, count) by Lemire's method (TOMACS 2019), with docs/random.md's
    attempts."""
    end = 1 << (64 if long else 32)
    for attempt in range(128):
        product = element_word(seed, offset, element, attempt, long) * count
        if product % end >= end % count:
            break
    return product // end


def units(seed: int, offset: int, n: int, dtype: str) -> Array:
    """Return the uniform numbers in [0, 1) from which those of the dtype are derived."""
    bits, long = (53, True) if dtype == "float64" else (24, False)
    drawn = [
        element_word(seed, offset, i, 0, long) >> (64 if long else 32) - bits for i in range(n)
    ]
    return np.array(drawn).astype(Exact) / Exact(2) ** bits
