"""Signs, absolute values, negation."""

from dl_conformance.vocabulary import calls

SHAPES = ("3x41", "5", "-", "0x3", "2x3x4x5")

CASES = [
    calls(
        "Sign Sgn SgnInp Abs AbsInp Neg NegInp", *(dict(input=x) for x in SHAPES), edges="extreme"
    ),
]
