"""Tests for any or all nonzero elements."""

from dl_conformance.vocabulary import T, calls, refused

CASES = [
    calls(
        "Any All",
        dict(input=T("5x7", low=0, high=1), dim=1),
        dict(input=T("5x7", low=0, high=1), dim=0),
        dict(input=T("5x7", values=[0]), dim=None),
        dict(input=T("5x7", values=[1]), dim=None),
        dict(input=T("3x4x5", low=0, high=1), dim=-1),
        dict(input="0x3", dim=0),
        edges="extreme",
    ),
    calls("Any All", dict(input="5x7", dim=1, out=T("-", dtype="uint8")), dtypes="bool uint8"),
    refused(
        "Any",
        dict(input=T("5x7", low=0, high=1), dim=1),
        dict(input=T("5x7x1", low=0, high=1)),
        dict(input=T("5", low=0, high=1)),
        dict(out=T("5", dtype="int64")),
    ),
    refused(
        "All",
        dict(input=T("5x7", low=0, high=1), dim=1),
        dict(input=T("5x7x1", low=0, high=1)),
    ),
]
