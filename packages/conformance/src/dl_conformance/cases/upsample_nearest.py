"""Nearest-neighbor resizing and its gradient."""

from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset", "channels-last")
SIZES = [("2x3x4x5", [8, 10]), ("2x3x4x5", [3, 7]), ("2x3x5", [9]), ("1x2x3x4x2", [4, 4, 5])]


def sizes(shape):
    return [int(x) for x in shape.split("x")]


def output(shape, size):
    return tuple(sizes(shape)[:2] + size)


CASES = [
    calls(
        "UpsampleNearest",
        *(dict(input=s, size=n) for s, n in SIZES),
        layouts=LAYOUTS,
        edges="extreme",
    ),
    calls(
        "UpsampleNearestBackward",
        *(
            dict(grad_output="x".join(map(str, output(s, n))), out_size=n, in_size=sizes(s))
            for s, n in SIZES
        ),
        layouts=LAYOUTS,
    ),
    refused(
        "UpsampleNearest",
        dict(input="2x3x4x5", size=[8, 10]),
        dict(input="2x3x4x5x1"),
        dict(input="3x3x4x5"),
        dict(input="-"),
        dict(input=T("2x3x4x5", low=0, high=1, dtype="int64")),
    ),
    refused(
        "UpsampleNearestBackward",
        dict(grad_output="2x3x8x10", out_size=[8, 10], in_size=[2, 3, 4, 5]),
        dict(grad_input="2x3x4x5x1"),
    ),
]
