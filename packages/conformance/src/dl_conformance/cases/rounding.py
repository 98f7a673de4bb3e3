"""Rounding to integers."""

from dl_conformance.vocabulary import T, calls, refused

SHAPES = ("3x41", "5", "-", "0x3", "2x3x4x5")

CASES = [
    calls(
        "Floor Ceil FloorInp CeilInp dlopRound", *(dict(input=x) for x in SHAPES), edges="extreme"
    ),
    refused(
        "Floor",
        dict(input="3x41"),
        dict(input="3x41x1"),
        dict(input="3"),
        dict(input=T("3x41", low=0, high=1, dtype="int64")),
    ),
    refused(
        "Ceil",
        dict(input="3x41"),
        dict(input="3x41x1"),
    ),
]
