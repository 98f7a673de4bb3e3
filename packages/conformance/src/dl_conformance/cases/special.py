"""The error function and the logarithm of the gamma function."""

from dl_conformance.vocabulary import T, calls

SHAPES = ("3x41", "5", "-", "0x3", "2x3x4x5")

CASES = [
    calls("Erf ErfInp", *(dict(input=x) for x in SHAPES), edges="extreme"),
    calls("dlopLgamma", *(dict(input=T(x, low=2.5, high=9)) for x in SHAPES)),
    calls("Erfinv ErfinvInp", *(dict(input=T(x, low=-0.999, high=0.999)) for x in SHAPES)),
    calls("Erfinv ErfinvInp", dict(input="17"), layouts=(), edges="extreme"),
]
