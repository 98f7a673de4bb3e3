"""Slices that are filled."""

from dl_conformance.vocabulary import T, calls

INDEX = T("2", low=0, high=4, dtype="int64")
LAYOUTS = ("transposed", "strided", "offset")

CASES = [
    calls(
        "IndexFill IndexFillInp",
        dict(input="5x7", dim=0, index=INDEX, value="-"),
        dict(input="3x5x4", dim=-2, index=INDEX, value="-"),
        layouts=LAYOUTS,
    ),
    calls(
        "IndexFillScalar IndexFillInpScalar",
        dict(input="5x7", dim=1, index=INDEX, value=9),
        layouts=LAYOUTS,
    ),
]
