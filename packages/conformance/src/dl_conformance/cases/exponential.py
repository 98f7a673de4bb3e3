"""Exponentials and logarithms."""

from dl_conformance.vocabulary import T, calls, refused

SHAPES = [
    dict(input="5"),
    dict(input="-"),
    dict(input="0x3"),
    dict(input="2x3x4x5"),
    dict(input="1x257"),
]
POSITIVE = [dict(input=T(x["input"], low=0.05, high=9)) for x in SHAPES]

CASES = [
    calls("Exp Expm1 ExpInp Expm1Inp", dict(input="3x41"), *SHAPES, edges="extreme"),
    calls(
        "Log Log2 Log10 Log1p LogInp Log2Inp Log10Inp Log1pInp",
        dict(input=T("3x41", low=0.05, high=9)),
        *POSITIVE,
        edges="extreme",
    ),
    refused(
        "Exp",
        dict(input="3x41"),
        dict(input="3x41x1"),
        dict(input="3"),
        dict(out=T("3x41", dtype="int64")),
    ),
    refused(
        "Expm1",
        dict(input="3x41"),
        dict(input="3x41x1"),
    ),
    refused(
        "Log Log2 Log10 Log1p",
        dict(input=T("3x41", low=0.05, high=9)),
        dict(input=T("3x41x1", low=0.05, high=9)),
    ),
]
