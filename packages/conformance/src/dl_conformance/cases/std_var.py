"""Standard deviations."""

from dl_conformance.vocabulary import T, calls, refused

# Nonfinite elements at both ends and in the middle of a line.
INF, NAN = float("inf"), float("nan")
END = [1.0, 2.0, INF, 0.0, -INF, 0.5, 2.0, 3.0, 1.0, NAN, 2.0, 1.5]

CASES = [
    calls(
        "Std",
        dict(input="5x7x3", dim=[1], correction=1),
        dict(input="5x7x3", dim=[0, 2], correction=0),
        dict(input="5x7", dim=None, correction=1),
        dict(input="3x41", dim=[1], correction=None),
        dict(input="0x7", dim=[0], correction=-1),
        *(dict(input=T("3x4", values=END, plain=True), dim=[d], correction=1) for d in (0, 1)),
    ),
    refused(
        "Std",
        dict(input="5x7x3", dim=[1], correction=1),
        dict(input="5x7x3x1"),
        dict(input="5x7"),
        dict(dim=[1, 1]),
        dict(dim=[99]),
        dict(input=T("5x7x3", low=0, high=1, dtype="int64")),
    ),
]
