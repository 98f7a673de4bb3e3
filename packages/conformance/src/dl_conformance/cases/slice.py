"""Selection, slicing and writing along one dimension, and the gradients."""

from dl_conformance.vocabulary import T, calls, refused

PLACES = [
    *(("5x7x3", 1, 4, "5x3"), ("5x7", 0, -1, "7"), ("9", -1, 0, "-"), ("3x0", 0, 2, "0")),
    ("5x6x7", -3, -5, "6x7"),
]
RANGES = [
    ("5x7x3", 1, 1, 6, 2, "5x3x3"),
    ("5x7", 0, 0, 5, 1, "5x7"),
    ("41", 0, 3, 4, 1, "1"),
    ("4x9", -1, -5, -1, 3, "4x2"),
    ("4x9", 1, 2, 100, 1, "4x7"),
    ("4x9", 1, 6, 3, 1, "4x0"),
    ("5x6x7", 1, -99, 99, 3, "5x2x7"),
    ("5x6x7", 2, 2, 3, 9, "5x6x1"),
]


def sizes(shape):
    return [int(x) for x in shape.split("x")]


CASES = [
    calls("Select", *(dict(input=s, dim=d, index=i) for s, d, i, _ in PLACES), edges="extreme"),
    calls(
        "SelectBackward",
        *(dict(grad_output=o, input_sizes=sizes(s), dim=d, index=i) for s, d, i, o in PLACES),
        edges="extreme",
    ),
    calls(
        "SelectScatter",
        *(dict(input=s, src=o, dim=d, index=i) for s, d, i, o in PLACES),
        edges="extreme",
    ),
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
        edges="extreme",
    ),
    calls(
        "SliceScatter",
        *(dict(input=s, src=o, dim=d, start=a, end=b, step=c) for s, d, a, b, c, o in RANGES),
        edges="extreme",
    ),
    refused(
        "Select",
        dict(input="5x7x3", dim=1, index=4),
        dict(input="5x7x3x1"),
        dict(input="7x3"),
        dict(dim=3),
        dict(input="-"),
        dict(input=T("5x7x3", low=0, high=1, dtype="int64")),
    ),
    refused(
        "SelectBackward",
        dict(grad_output="5x3", input_sizes=[5, 7, 3], dim=1, index=4),
        dict(grad_output="5x3x1"),
        dict(grad_input="5x7x3x1"),
    ),
    refused(
        "SelectScatter",
        dict(input="5x7x3", src="5x3", dim=1, index=4),
        dict(input="5x7x3x1"),
        dict(src="5x3x1"),
    ),
    refused(
        "Slice",
        dict(input="5x7x3", dim=1, start=1, end=6, step=2),
        dict(step=-1),
    ),
    refused(
        "SliceBackward",
        dict(grad_output="5x3x3", input_sizes=[5, 7, 3], dim=1, start=1, end=6, step=2),
        dict(grad_input="5x7x3x1"),
    ),
    refused(
        "SliceScatter",
        dict(input="5x7x3", src="5x3x3", dim=1, start=1, end=6, step=2),
        dict(input="5x7x3x1"),
    ),
]
