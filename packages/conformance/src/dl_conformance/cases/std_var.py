"""Standard deviations."""

from dl_conformance.vocabulary import T, calls, refused

CASES = [
    calls(
        "Std",
        dict(input="5x7x3", dim=[1], correction=1),
        dict(input="5x7x3", dim=[0, 2], correction=0),
        dict(input="5x7", dim=None, correction=1),
        dict(input="3x41", dim=[1], correction=None),
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
