"""Slices filled with a value."""

from dl_conformance.vocabulary import T, calls, refused

INDEX = T("2", low=0, high=4, dtype="int64")
LAYOUTS = ("transposed", "strided", "offset")

CASES = [
    calls(
        "IndexFill IndexFillInp",
        dict(input="5x7", dim=0, index=INDEX, value="-"),
        dict(input="3x5x4", dim=-2, index=INDEX, value="-"),
        layouts=LAYOUTS,
        edges="extreme",
    ),
    calls(
        "IndexFillScalar IndexFillInpScalar",
        dict(input="5x7", dim=1, index=INDEX, value=9),
        layouts=LAYOUTS,
        edges="extreme",
    ),
    refused(
        "IndexFill",
        dict(input="5x7", dim=0, index=T("2", low=0, high=4, dtype="int64"), value="-"),
        dict(input="5x7x1"),
        dict(dim=3),
        dict(input=T("5x7", low=0, high=1, dtype="int64")),
        dict(index=T("2x1", low=0, high=4, dtype="int64")),
        data=[dict(index=T("2", values=[-9], dtype="int64"))],
    ),
    refused(
        "IndexFillInp",
        dict(input="5x7", dim=0, index=T("2", low=0, high=4, dtype="int64"), value="-"),
        dict(dim=3),
        data=[dict(index=T("2", values=[-9], dtype="int64"))],
    ),
    refused(
        "IndexFillScalar",
        dict(input="5x7", dim=1, index=T("2", low=0, high=4, dtype="int64"), value=9),
        dict(input="5x7x1"),
        data=[dict(index=T("2", values=[-9], dtype="int64"))],
    ),
    refused(
        "IndexFillInpScalar",
        dict(input="5x7", dim=1, index=T("2", low=0, high=4, dtype="int64"), value=9),
        dict(input="5"),
        data=[dict(index=T("2", values=[-9], dtype="int64"))],
    ),
]
