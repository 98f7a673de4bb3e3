"""Triangles of matrices."""

from dl_conformance.vocabulary import calls

CASES = [
    calls(
        "Tril Triu TriuInp",
        *(dict(input="5x7", diagonal=k) for k in (0, 2, -2, 9, -9)),
        dict(input="2x3x4x4", diagonal=1),
        dict(input="0x3", diagonal=0),
    ),
]
