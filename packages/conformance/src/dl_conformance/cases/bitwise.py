"""Operations on bits."""

from dl_conformance.vocabulary import T, calls, refused

CASES = [
    calls(
        "BitwiseAnd BitwiseOr",
        dict(input="3x41", other="3x41"),
        dict(input="3x1", other="2x1x4"),
        dict(input="5", other="-"),
        edges="extreme",
    ),
    calls(
        "BitwiseAndInp BitwiseOrInp",
        dict(input="3x41", other="3x41"),
        dict(input="2x3x4", other="3x1"),
        edges="extreme",
    ),
    calls(
        "BitwiseAndScalar BitwiseOrScalar BitwiseAndInpScalar BitwiseOrInpScalar",
        dict(input="3x41", other=6),
        dict(input="-", other=1),
        dict(input="0x2", other=1),
        edges="extreme",
        dtypes="uint8 int8 int16 int32 int64",
    ),
    calls(
        "BitwiseNot BitwiseNotInp",
        dict(input="3x41"),
        dict(input="-"),
        dict(input="0x2"),
        edges="extreme",
    ),
    refused(
        "BitwiseAnd",
        dict(input="3x41", other="3x41"),
        dict(input="3x41x1"),
        dict(input="3"),
        dict(input=T("3x41", dtype="float32")),
    ),
    refused(
        "BitwiseOr BitwiseAndInp BitwiseOrInp",
        dict(input="3x41", other="3x41"),
        dict(input="3x41x1"),
    ),
    refused(
        "BitwiseAndScalar BitwiseOrScalar",
        dict(input="3x41", other=6),
        dict(input="3x41x1"),
    ),
    refused(
        "BitwiseNot",
        dict(input="3x41"),
        dict(input="3x41x1"),
    ),
]
