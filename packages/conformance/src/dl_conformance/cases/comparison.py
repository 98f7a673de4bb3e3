"""Comparisons."""

from dl_conformance.vocabulary import T, calls, refused

PAIRS = [
    dict(input="3x41", other="3x41"),
    dict(input="3x1", other="2x1x4"),
    dict(input="5", other="-"),
    dict(input="0x3", other="3"),
]
IN_PLACE = [
    dict(input="3x41", other="3x41"),
    dict(input="2x3x4", other="3x1"),
    dict(input="0x3", other="3"),
]
NUMBERS = [dict(input="3x41", other=1), dict(input="-", other=0), dict(input="2x3x4x5", other=2)]

CASES = [
    calls("Eq Ne Ge Gt Le Lt", *PAIRS, edges="extreme"),
    calls("EqInp NeInp GeInp GtInp LeInp LtInp", *IN_PLACE, edges="extreme"),
    calls(
        "EqScalar NeScalar GeScalar GtScalar LeScalar LtScalar "
        "EqInpScalar NeInpScalar GeInpScalar GtInpScalar LeInpScalar LtInpScalar",
        *NUMBERS,
        edges="extreme",
    ),
    calls(
        "Equal",
        dict(input=T("2x3", values=[1, 0, 1]), other=T("2x3", values=[1, 0, 1])),
        dict(input=T("2x3", values=[1, 0, 1]), other=T("2x3", values=[1, 1, 1])),
        dict(input=T("3", values=[1, 0, 1]), other=T("2", values=[1, 0])),
        *(
            dict(input=T("2x3", values=[1, 0, 1]), other=T("2x3", values=[1, v, 1], dtype=d))
            for d in ("float64", "float16", "int64", "uint8", "bool")
            for v in (0, 1)
        ),
    ),
    calls("IsNan", dict(input="3x41"), dict(input="-"), dict(input="0x2"), edges="extreme"),
    refused(
        "Eq",
        dict(input="3x41", other="3x41"),
        dict(input="3x41x1"),
        dict(input="3"),
        dict(out=T("3x41", dtype="int64")),
    ),
    refused(
        "Ne Ge Gt Le Lt EqInp NeInp GeInp GtInp LeInp LtInp",
        dict(input="3x41", other="3x41"),
        dict(input="3x41x1"),
    ),
    refused(
        "EqScalar NeScalar GeScalar GtScalar",
        dict(input="3x41", other=1),
        dict(input="3x41x1"),
    ),
]
