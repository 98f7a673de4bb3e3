"""Quotients and remainders."""

from dl_conformance.vocabulary import T, calls

REALS = "float16 bfloat16 float32 float64 uint8 int8 int16 int32 int64"
DIVISORS = dict(low=1, high=4)
PAIRS = [
    dict(input="3x41", other=T("3x41", **DIVISORS)),
    dict(input="3x1", other=T("2x1x4", **DIVISORS)),
    dict(input="5", other=T("-", **DIVISORS)),
    dict(input="0x3", other=T("3", **DIVISORS)),
]
MODES = ("RoundModeTrunc", "RoundModeFloor")

CASES = [
    calls(
        "Div",
        *(dict(x, rounding_mode="RoundModeNone") for x in PAIRS),
        dtypes="float16 bfloat16 float32 float64",
        edges="extreme",
    ),
    calls(
        "Div",
        *(dict(x, rounding_mode="RoundModeNone", out=T("-", dtype="float32")) for x in PAIRS),
        dtypes="uint8 int8 int16 int32 int64 bool",
    ),
    *(calls("Div", *(dict(x, rounding_mode=m) for x in PAIRS), dtypes=REALS) for m in MODES),
    *(
        calls(
            "DivScalar",
            *(dict(input="3x41", other=x, rounding_mode=m) for x in (2, 3)),
            dtypes=REALS,
        )
        for m in MODES
    ),
    calls(
        "DivScalar DivInpScalar",
        *(dict(input="3x41", other=x, rounding_mode="RoundModeNone") for x in (2, -3)),
        dtypes="float16 bfloat16 float32 float64",
    ),
    calls(
        "DivInp",
        dict(input="3x41", other=T("3x41", **DIVISORS), rounding_mode="RoundModeNone"),
        dict(input="2x3x4", other=T("3x1", **DIVISORS), rounding_mode="RoundModeNone"),
        dict(input="2x3x4", other=T("3x1", **DIVISORS), rounding_mode="RoundModeFloor"),
        dtypes="float16 bfloat16 float32 float64",
    ),
    calls("RemainderTensor", *PAIRS),
    calls(
        "RemainderScalar", *(dict(input="3x41", other=x) for x in (2, 3)), dict(input="-", other=2)
    ),
    calls(
        "Remainder",
        dict(input=7, other=T("3x41", **DIVISORS)),
        dict(input=5, other=T("-", **DIVISORS)),
    ),
]
