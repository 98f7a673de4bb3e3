"""Signs, absolute values, negation."""

from dl_conformance.vocabulary import T, calls, refused

SHAPES = ("3x41", "5", "-", "0x3", "2x3x4x5")

CASES = [
    calls(
        "Sign Sgn SgnInp Abs AbsInp Neg NegInp", *(dict(input=x) for x in SHAPES), edges="extreme"
    ),
    refused(
        "Sign",
        dict(input="3x41"),
        dict(input="3x41x1"),
        dict(input="3"),
        dict(input=T("3x41", low=0, high=1, dtype="int64")),
    ),
    refused(
        "Sgn Abs Neg",
        dict(input="3x41"),
        dict(input="3x41x1"),
    ),
]
