"""Complex numbers and their parts."""

from dl_conformance.vocabulary import T, calls, refused

SHAPES = ("3x41", "2x3x4x5", "-", "0x3")

CASES = [
    calls("Polar", *(dict(abs=T(s, low=0.1, high=5), angle=s) for s in SHAPES)),
    calls("Complex", *(dict(real=s, imag=s) for s in SHAPES), edges="extreme"),
    calls("Conj Real Imag", *(dict(input=s) for s in SHAPES), edges="extreme"),
    refused(
        "Polar",
        dict(abs=T("3x41", low=0.1, high=5), angle="3x41"),
        dict(abs=T("3x41x1", low=0.1, high=5)),
        dict(angle="3x41x1"),
        dict(abs=T("3x41", low=0, high=1, dtype="int64")),
    ),
    refused(
        "Complex",
        dict(real="3x41", imag="3x41"),
        dict(real="3x41x1"),
    ),
    refused(
        "Conj",
        dict(input="3x41"),
        dict(input="3x41x1"),
    ),
    refused(
        "Real Imag",
        dict(input="3x41"),
        dict(input="3x41x1"),
    ),
]
