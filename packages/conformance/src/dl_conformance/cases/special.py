"""The error function, functions of the normal distribution, and entropies."""

from dl_conformance.vocabulary import T, calls, refused

SHAPES = ("3x17", "5", "-", "0x3", "2x3x4x2")
PAIRS = (("3x17", "3x17"), ("3x17", "17"), ("5", "5"), ("-", "-"), ("0x3", "0x3"), ("4x1", "1x5"))
FLOATS = "float16 bfloat16 float32 float64"
NAN, INF = float("nan"), float("inf")
ENDS = [0.0, -0.0, -1.0, 1e-30, 1.0, 2.0, -5.0, 6.0, INF, -INF, NAN]
PROBABILITIES = [0.0, 1.0, -0.5, 1.5, 0.5, 1e-30, 0.25, 0.75, 2.0**-14, NAN, INF]

CASES = [
    calls("Erf ErfInp", *(dict(input=x) for x in SHAPES), edges="extreme"),
    calls("Erfinv ErfinvInp", *(dict(input=T(x, low=-0.999, high=0.999)) for x in SHAPES)),
    calls("Erfinv ErfinvInp", dict(input="17"), layouts=(), edges="extreme"),
    calls("dlopErfcx", *(dict(input=T(x, low=-2, high=9)) for x in SHAPES)),
    calls("dlopLogNdtr", *(dict(input=T(x, low=-9, high=5)) for x in SHAPES)),
    calls("dlopNdtri", *(dict(input=T(x, low=0.001, high=0.999)) for x in SHAPES)),
    calls("dlopEntr", *(dict(input=T(x, low=0.01, high=9)) for x in SHAPES), edges="extreme"),
    calls("dlopErfcx dlopLogNdtr", dict(input=T("11", values=ENDS)), dtypes=FLOATS, layouts=()),
    calls("dlopNdtri", dict(input=T("11", values=PROBABILITIES)), dtypes=FLOATS, layouts=()),
    calls(
        "dlopXlog1py",
        *(dict(input=a, other=T(b, low=-0.9, high=9)) for a, b in PAIRS),
        edges="extreme",
    ),
    refused(
        "Erf",
        dict(input="3x17"),
        dict(input="3x17x1"),
        dict(input="3"),
        dict(out=T("3x17", dtype="int64")),
    ),
    refused(
        "Erfinv",
        dict(input=T("3x17", low=-0.999, high=0.999)),
        dict(input=T("3x17x1", low=-0.999, high=0.999)),
    ),
    refused(
        "dlopErfcx",
        dict(input=T("3x17", low=-2, high=9)),
        dict(input=T("3x17x1", low=-2, high=9)),
    ),
    refused(
        "dlopLogNdtr",
        dict(input=T("3x17", low=-9, high=5)),
        dict(input=T("3x17x1", low=-9, high=5)),
    ),
    refused(
        "dlopNdtri",
        dict(input=T("3x17", low=0.001, high=0.999)),
        dict(input=T("3x17x1", low=0.001, high=0.999)),
    ),
    refused(
        "dlopEntr",
        dict(input=T("3x17", low=0.01, high=9)),
        dict(input=T("3x17x1", low=0.01, high=9)),
    ),
    refused(
        "dlopXlog1py",
        dict(input="3x17", other=T("3x17", low=-0.9, high=9)),
        dict(input="3x17x1"),
    ),
]
