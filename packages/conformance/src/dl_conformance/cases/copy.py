"""Copies between shapes and dtypes."""

from dl_conformance.vocabulary import T, calls

FLOATS = "float16 bfloat16 float32 float64"
SMALL = "uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 bool"

CASES = [
    calls("CastDtype", dict(input="3x41"), dict(input="-"), dict(input="0x3"), edges="extreme"),
    calls("CopyInp", dict(src="3x41"), dict(src="-"), edges="extreme"),
    *(
        calls(
            "CastDtype",
            dict(input=T("3x41", dtype=wide), out=T("-", dtype=to)),
            dtypes=to,
            layouts=(),
        )
        for wide in SMALL.split()
        for to in FLOATS.split()
        if wide != to
    ),
]
