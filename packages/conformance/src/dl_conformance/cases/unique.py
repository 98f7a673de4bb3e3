"""Distinct elements."""

from dl_conformance.vocabulary import T, calls, refused

CASES = [
    calls(
        "Unique",
        dict(
            input=T("5x7", low=0, high=5, values=[3, 1, 2, 1, 5, 3]),
            dim=None,
            sorted=True,
            return_counts=True,
        ),
        dict(input=T("12", values=[2, 1, 1, 0]), dim=0, sorted=True, return_counts=True),
        layouts=("transposed", "strided", "offset"),
    ),
    refused(
        "Unique",
        dict(
            input=T("5x7", low=0, high=5, values=[3, 1, 2, 1, 5, 3]),
            dim=None,
            sorted=True,
            return_counts=True,
        ),
        dict(input=T("5", low=0, high=5, values=[3, 1, 2, 1, 5, 3])),
        dict(indices=T("5x7", dtype="float32")),
    ),
    refused(
        "Unique",
        dict(input=T("12", values=[2, 1, 1, 0]), dim=0, sorted=True, return_counts=True),
        dict(dim=3),
    ),
]
