"""Input and output sizes of resized images."""

from __future__ import annotations

Sizes = tuple[tuple[int, ...], tuple[int, ...]]
# input, output: larger, smaller, both, to and from one cell, unchanged, non-integer factors
SIZES: list[Sizes] = [
    ((7,), (12,)),
    ((9,), (4,)),
    ((1,), (5,)),
    ((6,), (1,)),
    ((4, 5), (8, 15)),
    ((7, 6), (3, 11)),
    ((5, 4), (5, 9)),
    ((6, 3), (6, 3)),
    ((3, 4, 5), (6, 7, 3)),
    ((4, 1, 3), (4, 3, 1)),
    ((2, 5, 4), (5, 5, 7)),
]
# Enough cells for several threads, and for several pieces: one piece is computed at a time, because
# the memory between the two passes does not hold all cells.
MANY: list[Sizes] = [((40, 60), (90, 130)), ((90, 130), (40, 60))]
