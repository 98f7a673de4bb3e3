"""Quotients and remainders."""

from dl_conformance.vocabulary import T, calls, refused

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
    # Quotients of all magnitudes: large ones lose digits in half precision before rounding.
    *(
        calls(
            "Div DivInp",
            *(
                dict(
                    input=T("7x45", low=-high, high=high),
                    other=T("7x45", low=low, high=2),
                    rounding_mode=m,
                )
                for high, low in ((50, -2), (300, 0.01), (5000, 0.1))
            ),
            dtypes="float16 bfloat16 float32 float64",
            edges="extreme",
        )
        for m in MODES
    ),
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
        dtypes="float16 bfloat16 float32 float64 complex64 complex128",
    ),
    calls(
        "DivInp",
        dict(input="3x41", other=T("3x41", **DIVISORS), rounding_mode="RoundModeNone"),
        dict(input="2x3x4", other=T("3x1", **DIVISORS), rounding_mode="RoundModeNone"),
        dict(input="2x3x4", other=T("3x1", **DIVISORS), rounding_mode="RoundModeFloor"),
        dtypes="float16 bfloat16 float32 float64",
        edges="extreme",
    ),
    calls(
        "Div DivInp",
        dict(input="3x41", other=T("3x41", **DIVISORS), rounding_mode="RoundModeNone"),
        dict(input="2x3x4", other=T("3x1", **DIVISORS), rounding_mode="RoundModeNone"),
        dtypes="complex64 complex128",
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
    refused(
        "Div",
        dict(input="3x41", other=T("3x41", low=1, high=4), rounding_mode="RoundModeNone"),
        dict(input="3x41x1"),
        dict(input="3"),
        dict(out=T("3x41", dtype="int64")),
    ),
    refused(
        "DivScalar",
        dict(input="3x41", other=2, rounding_mode="RoundModeTrunc"),
        dict(input="3x41x1"),
    ),
    refused(
        "DivInp",
        dict(input="3x41", other=T("3x41", low=1, high=4), rounding_mode="RoundModeNone"),
        dict(input="3x41x1"),
    ),
    refused(
        "RemainderTensor",
        dict(input="3x41", other=T("3x41", low=1, high=4)),
        dict(input="3x41x1"),
    ),
    refused(
        "RemainderScalar",
        dict(input="3x41", other=2),
        dict(input="3x41x1"),
    ),
    refused(
        "Remainder",
        dict(input=7, other=T("3x41", low=1, high=4)),
        data=[dict(other=T("3x41", low=0, high=1, dtype="int64"))],
    ),
]
