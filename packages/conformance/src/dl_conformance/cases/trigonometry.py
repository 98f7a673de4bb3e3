"""Trigonometric and hyperbolic functions and their inverses."""

from dl_conformance.vocabulary import T, calls, refused

SHAPES = ("3x41", "5", "-", "0x3", "2x3x4x5", "1x257")

CASES = [
    calls(
        "Sin Cos Tan Atan Sinh Cosh Asinh SinInp CosInp TanInp AtanInp SinhInp CoshInp AsinhInp",
        *(dict(input=x) for x in SHAPES),
        edges="extreme",
    ),
    calls(
        "Asin Acos Atanh AsinInp AcosInp AtanhInp",
        *(dict(input=T(x, low=-0.95, high=0.95)) for x in SHAPES),
        edges="extreme",
    ),
    calls("Acosh AcoshInp", *(dict(input=T(x, low=1.1, high=9)) for x in SHAPES), edges="extreme"),
    calls(
        "dlopAtan2",
        dict(y="3x41", x="3x41"),
        dict(y="3x1", x="2x1x4"),
        dict(y="-", x="5"),
        edges="extreme",
    ),
    refused(
        "Sin",
        dict(input="3x41"),
        dict(input="3x41x1"),
        dict(input="3"),
        dict(out=T("3x41", dtype="int64")),
    ),
    refused(
        "Cos Tan Atan Sinh Cosh Asinh",
        dict(input="3x41"),
        dict(input="3x41x1"),
    ),
    refused(
        "Asin Acos",
        dict(input=T("3x41", low=-0.95, high=0.95)),
        dict(input=T("3x41x1", low=-0.95, high=0.95)),
    ),
]
