"""Elementwise addition, subtraction, multiplication, maximum and minimum."""

from dl_conformance.vocabulary import T, calls, refused

BROADCASTS = [
    dict(input="3x1", other="2x1x4"),
    dict(input="5", other="-"),
    dict(input="0x3", other="3"),
    dict(input="257", other="257"),
    dict(input="1x1", other="1"),
]
IN_PLACE = [
    dict(input="2x3x4", other="3x1"),
    dict(input="5", other="-"),
    dict(input="0x3", other="3"),
    dict(input="-", other="-"),
]
FORMS = [dict(input="3x41", alpha=2, other=3), dict(input="-", other=-1, alpha=1)]

CASES = [
    calls(
        "Add Sub",
        dict(input="3x41", other="3x41", alpha=1),
        dict(input="3x41", other="3x41", alpha=2),
        *({**x, "alpha": 3} for x in BROADCASTS),
        edges="extreme",
    ),
    calls("Mul Maximum Minimum", dict(input="3x41", other="3x41"), *BROADCASTS, edges="extreme"),
    calls(
        "AddInp SubInp",
        dict(input="3x41", other="3x41", alpha=2),
        *({**x, "alpha": 3} for x in IN_PLACE),
    ),
    calls("MulInp", dict(input="3x41", other="3x41"), *IN_PLACE, edges="extreme"),
    calls("AddScalar SubScalar AddInpScalar SubInpScalar", *FORMS, dict(input="0x2", other=1)),
    calls(
        "MulScalar MulInpScalar",
        *FORMS,
        dict(input="0x2", other=1),
        dict(input="2x1x5", other=2),
        edges="extreme",
    ),
    calls(
        "AddScalar SubScalar MulScalar",
        dict(input=T("4x5"), other=0.37, alpha=1),
        dtypes="float16 bfloat16 float32 float64",
        layouts=(),
        edges="extreme",
    ),
    refused(
        "Add",
        dict(input="3x41", other="3x41", alpha=1),
        dict(input="3x41x1"),
        dict(input="3"),
        dict(out=T("3x41", dtype="int64")),
    ),
    refused(
        "Sub",
        dict(input="3x41", other="3x41", alpha=1),
        dict(input="3x41x1"),
    ),
    refused(
        "Mul Maximum Minimum MulInp",
        dict(input="3x41", other="3x41"),
        dict(input="3x41x1"),
    ),
    refused(
        "AddInp SubInp",
        dict(input="3x41", other="3x41", alpha=2),
        dict(input="3x41x1"),
    ),
    refused(
        "AddScalar SubScalar",
        dict(input="3x41", alpha=2, other=3),
        dict(input="3x41x1"),
    ),
    refused(
        "MulScalar",
        dict(input="3x41", other=3),
        dict(input="3x41x1"),
    ),
]
