"""Powers, roots, reciprocals."""

from dl_conformance.vocabulary import T, calls, refused

SHAPES = ("3x41", "5", "-", "0x3", "2x3x4x5")
BASES = dict(low=0.2, high=3)
EXPONENTS = dict(low=0, high=3)

CASES = [
    calls(
        "Sqrt Rsqrt Reciprocal SqrtInp RsqrtInp ReciprocalInp",
        *(dict(input=T(x, low=0.2, high=9)) for x in SHAPES),
        edges="extreme",
    ),
    calls(
        "Pow PowInp",
        *(dict(input="3x41", exponent=x) for x in (2, 3, 0, 1)),
        dict(input="-", exponent=2),
    ),
    calls(
        "Pow PowInp",
        *(dict(input=T("4x5", **BASES), exponent=x) for x in (0.5, -1.5, 2.5, -1)),
        dtypes="float16 bfloat16 float32 float64",
        layouts=(),
    ),
    calls("PowScalar", *(dict(input=x, exponent=T("3x41", **EXPONENTS)) for x in (2, 3, 1))),
    calls(
        "PowTensor",
        dict(input=T("3x41", **BASES), exponent=T("3x41", **EXPONENTS)),
        dict(input=T("3x1", **BASES), exponent=T("2x1x4", **EXPONENTS)),
        dict(input=T("-", **BASES), exponent=T("5", **EXPONENTS)),
    ),
    calls(
        "PowInpTensor",
        dict(input=T("3x41", **BASES), exponent=T("3x41", **EXPONENTS)),
        dict(input=T("2x3x4", **BASES), exponent=T("3x1", **EXPONENTS)),
    ),
    refused(
        "Sqrt",
        dict(input=T("3x41", low=0.2, high=9)),
        dict(input=T("3x41x1", low=0.2, high=9)),
        dict(input=T("3", low=0.2, high=9)),
        dict(out=T("3x41", dtype="int64")),
    ),
    refused(
        "Rsqrt Reciprocal",
        dict(input=T("3x41", low=0.2, high=9)),
        dict(input=T("3x41x1", low=0.2, high=9)),
    ),
    refused(
        "Pow",
        dict(input="3x41", exponent=2),
        dict(input="3x41x1"),
    ),
    refused(
        "PowScalar",
        dict(input=2, exponent=T("3x41", low=0, high=3)),
        dict(exponent=T("3x41x1", low=0, high=3)),
    ),
    refused(
        "PowTensor PowInpTensor",
        dict(input=T("3x41", low=0.2, high=3), exponent=T("3x41", low=0, high=3)),
        dict(input=T("3x41x1", low=0.2, high=3)),
    ),
]
