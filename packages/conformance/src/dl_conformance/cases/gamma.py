"""Log-gamma and its derivatives, the zeta function and incomplete gamma functions."""

from dl_conformance.vocabulary import Calls, T, calls, refused

SHAPES = ("3x17", "5", "-", "0x3", "2x3x4x2")
PAIRS = (("3x17", "3x17"), ("3x17", "17"), ("5", "5"), ("-", "-"), ("0x3", "0x3"), ("4x1", "1x5"))
FLOATS = "float16 bfloat16 float32 float64"
NAN, INF = float("nan"), float("inf")
POLES = [0.0, -0.0, -1.0, -2.0, -2.5, 0.5, 1.0, 11.5, INF, -INF, NAN]


def pairs(s: tuple[float, float], q: tuple[float, float]) -> list[dict[str, T]]:
    return [
        dict(input=T(a, low=s[0], high=s[1]), other=T(b, low=q[0], high=q[1])) for a, b in PAIRS
    ]


def ends(operator: str, first: list[float], second: list[float]) -> Calls:
    """Return the Cartesian product of two lists as two tensors."""
    one = T(f"{len(first)}x1", values=first)
    return calls(
        operator,
        dict(input=one, other=T(str(len(second)), values=second)),
        dtypes=FLOATS,
        layouts=(),
    )


CASES = [
    calls("dlopLgamma", *(dict(input=T(x, low=2.5, high=9)) for x in SHAPES)),
    calls("dlopDigamma", *(dict(input=T(x, low=0.05, high=20)) for x in SHAPES)),
    calls("dlopDigamma", dict(input=T("41", low=-6, high=-0.01)), dtypes=FLOATS, layouts=()),
    calls("dlopDigamma", dict(input=T("11", values=POLES)), dtypes=FLOATS, layouts=()),
    calls("dlopPolygamma", *(dict(n=1, input=T(x, low=0.3, high=20)) for x in SHAPES)),
    calls(
        "dlopPolygamma",
        *(dict(n=n, input=T("41", low=0.3, high=20)) for n in (0, 2, 3, 7)),
        *(dict(n=n, input=T("41", low=-5.5, high=-0.5)) for n in (1, 2)),
        *(dict(n=n, input=T("11", values=POLES)) for n in (0, 1, 2)),
        dtypes=FLOATS,
        layouts=(),
    ),
    calls("dlopZeta", *pairs((1.1, 9), (0.1, 20))),
    ends("dlopZeta", [0.5, 1.0, 1.5, 2.0, 3.0, 30.0, NAN], [2.0, 0.5, 0.0, -1.0, -2.5, INF, NAN]),
    calls("dlopIgamma dlopIgammac", *pairs((0.3, 20), (0.05, 30))),
    calls(
        "dlopIgamma dlopIgammac",
        dict(input=T("41", low=0.05, high=0.5), other=T("41", low=0.01, high=2)),
        layouts=(),
    ),
    calls(
        "dlopIgamma dlopIgammac",
        dict(input=T("41", low=80, high=120), other=T("41", low=80, high=120)),
        layouts=(),
    ),
    ends(
        "dlopIgamma dlopIgammac", [0.0, -1.0, 1.0, 12.5, INF, NAN], [0.0, 1.0, -1.0, 12.0, INF, NAN]
    ),
    refused(
        "dlopLgamma",
        dict(input=T("3x17", low=2.5, high=9)),
        dict(input=T("3x17x1", low=2.5, high=9)),
        dict(input=T("3", low=2.5, high=9)),
        dict(out=T("3x17", dtype="int64")),
    ),
    refused(
        "dlopDigamma",
        dict(input=T("3x17", low=0.05, high=20)),
        dict(input=T("3x17x1", low=0.05, high=20)),
    ),
    refused(
        "dlopPolygamma",
        dict(n=1, input=T("3x17", low=0.3, high=20)),
        dict(n=-1),
    ),
    refused(
        "dlopZeta",
        dict(input=T("3x17", low=1.1, high=9), other=T("3x17", low=0.1, high=20)),
        dict(input=T("3x17x1", low=1.1, high=9)),
    ),
    refused(
        "dlopIgamma dlopIgammac",
        dict(input=T("3x17", low=0.3, high=20), other=T("3x17", low=0.05, high=30)),
        dict(input=T("3x17x1", low=0.3, high=20)),
    ),
]
