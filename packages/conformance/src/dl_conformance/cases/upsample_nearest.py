"""Resizing by the nearest cell, and its gradient."""

from dl_conformance.vocabulary import calls

LAYOUTS = ("transposed", "strided", "offset", "channels-last")
SIZES = [("2x3x4x5", [8, 10]), ("2x3x4x5", [3, 7]), ("2x3x5", [9]), ("1x2x3x4x2", [4, 4, 5])]


def sizes(shape):
    return [int(x) for x in shape.split("x")]


def output(shape, size):
    return tuple(sizes(shape)[:2] + size)


CASES = [
    calls("UpsampleNearest", *(dict(input=s, size=n) for s, n in SIZES), layouts=LAYOUTS),
    calls(
        "UpsampleNearestBackward",
        *(
            dict(grad_output="x".join(map(str, output(s, n))), out_size=n, in_size=sizes(s))
            for s, n in SIZES
        ),
        layouts=LAYOUTS,
    ),
]
