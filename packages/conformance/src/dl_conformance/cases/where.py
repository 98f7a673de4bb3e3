"""Selection by a mask."""

from dl_conformance.vocabulary import T, calls, refused

MASK = dict(dtype="bool", plain=True)
BYTES = dict(dtype="uint8", low=0, high=1, plain=True)

CASES = [
    calls(
        "Where",
        dict(condition=T("3x41", dtype="bool"), input="3x41", other="3x41"),
        dict(condition=T("41", **BYTES), input="3x1", other="2x1x41"),
        dict(condition=T("-", **MASK), input="5", other="5"),
        dict(condition=T("0x3", **MASK), input="3", other="-"),
        edges="extreme",
    ),
    calls(
        "MaskedFill MaskedFillInp",
        dict(input="3x41", mask=T("3x41", dtype="bool"), value="-"),
        dict(input="3x41", mask=T("3x1", **BYTES), value="-"),
        dict(input="0x3", mask=T("3", **MASK), value="-"),
        edges="extreme",
    ),
    calls(
        "MaskedFillScalar MaskedFillInpScalar",
        dict(input="3x41", mask=T("3x41", dtype="bool"), value=2),
        dict(input="3x41", mask=T("41", **BYTES), value=1),
        edges="extreme",
    ),
    refused(
        "Where",
        dict(condition=T("3x41", dtype="bool"), input="3x41", other="3x41"),
        dict(input="3x41x1"),
        dict(input="3"),
        dict(condition=T("3x41", low=0, high=1, dtype="int64")),
    ),
    refused(
        "MaskedFill MaskedFillInp",
        dict(input="3x41", mask=T("3x41", dtype="bool"), value="-"),
        dict(input="3x41x1"),
    ),
    refused(
        "MaskedFillScalar MaskedFillInpScalar",
        dict(input="3x41", mask=T("3x41", dtype="bool"), value=2),
        dict(input="3x41x1"),
    ),
]
