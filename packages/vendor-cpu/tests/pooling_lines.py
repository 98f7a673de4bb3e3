"""The windows of pooling along a line."""

from __future__ import annotations

Windows = list[list[int]]
"""The cells of each window."""

RULES = [([3], None, [1], [1], False), ([2], [3], [0], [2], False), ([3], [2], [1], [1], True)]


def windows_of(
    length: int, kernel: list[int], stride: list[int] | None, padding: list[int],
    dilation: list[int], ceil_mode: bool,
) -> tuple[Windows, list[int]]:  # fmt: skip
    """Windows, and how many of their cells lie on the line or its padding."""
    (k,), (p,), (d,) = kernel, padding, dilation
    (s,) = stride or kernel
    span = length + 2 * p - d * (k - 1) - 1
    count = (span + s - 1 if ceil_mode else span) // s + 1
    if ceil_mode and (count - 1) * s >= length + p:
        count -= 1
    cells = [[i * s - p + j * d for j in range(k)] for i in range(count)]
    padded = [sum(c < length + p for c in window) for window in cells]
    return [[c for c in window if 0 <= c < length] for window in cells], padded


def adaptive_windows(length: int, count: int) -> Windows:
    return [list(range(i * length // count, -(-(i + 1) * length // count))) for i in range(count)]
