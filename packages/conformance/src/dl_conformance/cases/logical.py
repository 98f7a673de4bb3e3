"""Logical operations."""

from dl_conformance.vocabulary import T, calls, refused

PAIRS = [
    dict(input="3x41", other="3x41"),
    dict(input="3x1", other="2x1x4"),
    dict(input="5", other="-"),
    dict(input="0x3", other="3"),
]
IN_PLACE = [dict(input="3x41", other="3x41"), dict(input="2x3x4", other="3x1")]
ONE = [dict(input="3x41"), dict(input="-"), dict(input="0x2"), dict(input="2x3x4x5")]

CASES = [
    calls("LogicalAnd LogicalOr", *PAIRS, edges="extreme"),
    calls("LogicalAndInp LogicalOrInp", *IN_PLACE, edges="extreme"),
    calls("LogicalNot LogicalNotInp", *ONE, edges="extreme"),
    refused(
        "LogicalAnd",
        dict(input="3x41", other="3x41"),
        dict(input="3x41x1"),
        dict(input="3"),
        dict(out=T("3x41", dtype="int64")),
    ),
    refused(
        "LogicalOr LogicalAndInp LogicalOrInp",
        dict(input="3x41", other="3x41"),
        dict(input="3x41x1"),
    ),
    refused(
        "LogicalNot",
        dict(input="3x41"),
        dict(input="3x41x1"),
    ),
]
