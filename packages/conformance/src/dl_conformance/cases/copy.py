"""Copies between shapes and dtypes."""

from dl_conformance.vocabulary import T, calls, refused

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
    calls(
        "Expand",
        *(
            dict(input=s, out=T(o))
            for s, o in (
                ("3x1", "3x41"),
                ("1x5", "2x3x5"),
                ("-", "4x2"),
                ("2x3", "2x3"),
                ("1", "0"),
            )
        ),
        edges="extreme",
    ),
    *(
        calls("Contiguous", dict(input=s, memoryFormat=f), edges="extreme")
        for s, f in (("2x3x4x5", 1), ("3x41", 0), ("2x3x2x4x5", 2), ("2x3x4x5", 3), ("-", 0))
    ),
    refused(
        "CastDtype",
        dict(input="3x41"),
        dict(input="3x41x1"),
        dict(input="3"),
    ),
    refused(
        "CopyInp",
        dict(src="3x41"),
        dict(src="3x41x1"),
    ),
    refused(
        "Expand",
        dict(input="3x1", out="3x41"),
        dict(input="3x1x1"),
    ),
    refused(
        "Contiguous",
        dict(input="2x3x4x5", memoryFormat=1),
        dict(input="2x3x4x5x1"),
    ),
]
