"""Complex numbers and their parts."""

from dl_conformance.vocabulary import T, calls

SHAPES = ("3x41", "2x3x4x5", "-", "0x3")

CASES = [
    calls("Polar", *(dict(abs=T(s, low=0.1, high=5), angle=s) for s in SHAPES)),
    calls("Complex", *(dict(real=s, imag=s) for s in SHAPES), edges="extreme"),
    calls("Conj Real Imag", *(dict(input=s) for s in SHAPES), edges="extreme"),
]
