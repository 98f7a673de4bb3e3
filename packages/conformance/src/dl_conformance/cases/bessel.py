"""Bessel functions of orders 0 and 1 and the Airy function."""

from dl_conformance.vocabulary import Calls, T, calls, refused

SHAPES = ("3x17", "5", "-", "0x3", "2x3x4x2")
INFINITE = [float("inf"), float("-inf"), float("nan")]
ENDS = [0.0, -0.0, -1.5, 1e-30, 1.0, 1.9375, 2.0, 2.0625, 8.0, *INFINITE]
BORDERS = [-8.0625, -8.0, -2.0, -1e-3, 0.0, -0.0, 1e-30, 1.0, 1.9375, 2.0, 7.9375, 8.0, *INFINITE]
FLOATS = "float16 bfloat16 float32 float64"


def at(low: float, high: float) -> list[dict[str, T]]:
    return [dict(input=T(x, low=low, high=high)) for x in SHAPES]


def ends(operators: str, values: list[float]) -> Calls:
    one = dict(input=T(str(len(values)), values=values))
    return calls(operators, one, dtypes=FLOATS, layouts=())


CASES = [
    calls("dlopBesselJ0 dlopBesselJ1 dlopSphericalBesselJ0", *at(-40, 40)),
    calls("dlopBesselY0 dlopBesselY1", *at(0.01, 40)),
    calls("dlopBesselI0 dlopBesselI0e dlopBesselI1 dlopBesselI1e", *at(-11, 11)),
    calls("dlopBesselI0e dlopBesselI1e", dict(input=T("41", low=-60, high=60))),
    calls("dlopBesselK0 dlopBesselK0e dlopBesselK1 dlopBesselK1e", *at(0.01, 11)),
    calls("dlopBesselK0e dlopBesselK1e", dict(input=T("41", low=5, high=100))),
    calls("dlopAiryAi", *at(-12, 5)),
    ends("dlopBesselJ0 dlopBesselJ1 dlopSphericalBesselJ0 dlopAiryAi", BORDERS),
    ends("dlopBesselI0 dlopBesselI0e dlopBesselI1 dlopBesselI1e", BORDERS),
    ends("dlopBesselY0 dlopBesselY1", ENDS),
    ends("dlopBesselK0 dlopBesselK0e dlopBesselK1 dlopBesselK1e", ENDS),
    refused(
        "dlopBesselJ0",
        dict(input=T("3x17", low=-40, high=40)),
        dict(input=T("3x17x1", low=-40, high=40)),
        dict(input=T("3", low=-40, high=40)),
        dict(out=T("3x17", dtype="int64")),
    ),
    refused(
        "dlopBesselJ1 dlopSphericalBesselJ0",
        dict(input=T("3x17", low=-40, high=40)),
        dict(input=T("3x17x1", low=-40, high=40)),
    ),
    refused(
        "dlopBesselY0 dlopBesselY1",
        dict(input=T("3x17", low=0.01, high=40)),
        dict(input=T("3x17x1", low=0.01, high=40)),
    ),
    refused(
        "dlopBesselI0 dlopBesselI0e dlopBesselI1 dlopBesselI1e",
        dict(input=T("3x17", low=-11, high=11)),
        dict(input=T("3x17x1", low=-11, high=11)),
    ),
    refused(
        "dlopBesselK0 dlopBesselK0e dlopBesselK1 dlopBesselK1e",
        dict(input=T("3x17", low=0.01, high=11)),
        dict(input=T("3x17x1", low=0.01, high=11)),
    ),
    refused(
        "dlopAiryAi",
        dict(input=T("3x17", low=-12, high=5)),
        dict(input=T("3x17x1", low=-12, high=5)),
    ),
]
