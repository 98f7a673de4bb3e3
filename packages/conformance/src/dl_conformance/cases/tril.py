"""Triangular parts of matrices."""

from dl_conformance.vocabulary import T, calls, refused

CASES = [
    calls(
        "Tril Triu TriuInp",
        *(dict(input="5x7", diagonal=k) for k in (0, 2, -2, 9, -9)),
        dict(input="2x3x4x4", diagonal=1),
        dict(input="0x3", diagonal=0),
        edges="extreme",
    ),
    refused(
        "Tril",
        dict(input="5x7", diagonal=0),
        dict(input="5x7x1"),
        dict(input="5"),
        dict(input=T("5x7", low=0, high=1, dtype="int64")),
    ),
    refused(
        "Triu",
        dict(input="5x7", diagonal=0),
        dict(input="5x7x1"),
    ),
    refused(
        "TriuInp",
        dict(input="5x7", diagonal=0),
        dict(input="5"),
    ),
]
