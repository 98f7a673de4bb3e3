"""Positions and ranges of one dimension, cut out, put back, and their gradients."""

from dl_conformance.vocabulary import calls

PLACES = [("5x7x3", 1, 4, "5x3"), ("5x7", 0, -1, "7"), ("9", -1, 0, "-"), ("3x0", 0, 2, "0")]
RANGES = [
    ("5x7x3", 1, 1, 6, 2, "5x3x3"),
    ("5x7", 0, 0, 5, 1, "5x7"),
    ("41", 0, 3, 4, 1, "1"),
    ("4x9", -1, -5, -1, 3, "4x2"),
    ("4x9", 1, 2, 100, 1, "4x7"),
    ("4x9", 1, 6, 3, 1, "4x0"),
]


def sizes(shape):
    return [int(x) for x in shape.split("x")]


CASES = [
    calls("Select", *(dict(input=s, dim=d, index=i) for s, d, i, _ in PLACES), edges="extreme"),
    calls(
        "SelectBackward",
        *(dict(grad_output=o, input_sizes=sizes(s), dim=d, index=i) for s, d, i, o in PLACES),
    ),
    calls("SelectScatter", *(dict(input=s, src=o, dim=d, index=i) for s, d, i, o in PLACES)),
    calls(
        "Slice",
        *(dict(input=s, dim=d, start=a, end=b, step=c) for s, d, a, b, c, _ in RANGES),
        edges="extreme",
    ),
    calls(
        "SliceBackward",
        *(
            dict(grad_output=o, input_sizes=sizes(s), dim=d, start=a, end=b, step=c)
            for s, d, a, b, c, o in RANGES
        ),
    ),
    calls(
        "SliceScatter",
        *(dict(input=s, src=o, dim=d, start=a, end=b, step=c) for s, d, a, b, c, o in RANGES),
    ),
]
