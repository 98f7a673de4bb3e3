"""Cumulative sums."""

from dl_conformance.vocabulary import T, calls, refused

CASES = [
    calls(
        "Cumsum",
        dict(input="5x7", dim=1),
        dict(input="5x7", dim=0),
        dict(input="3x5x4", dim=-2),
        dict(input="2x257", dim=1),
        dict(input="0x3", dim=0),
        dict(input="-", dim=0),
    ),
    # Running counts of True, from which attention masks are computed.
    calls(
        "Cumsum",
        dict(input=T("5x7", dtype="bool"), dim=1),
        dict(input=T("3x5x4", dtype="bool"), dim=0),
        dtypes="int64",
    ),
    calls(
        "CumsumBackward",
        *(
            dict(grad_output=s, dim=d)
            for s, d in (
                *(("5x7", 1), ("5x7x3", 0), ("2x300", -1), ("-", 0), ("0x3", 0)),
                *(("3x40x9", 1), ("1x1x1", -1), ("2x0x3", 1)),
            )
        ),
    ),
    refused(
        "Cumsum",
        dict(input="5x7", dim=1),
        dict(input="5x7x1"),
        dict(input="5x8"),
        dict(input="6x7"),
        dict(dim=3),
    ),
    refused(
        "CumsumBackward",
        dict(grad_output="5x7", dim=1),
        dict(grad_input="5x7x1"),
        dict(grad_input=T("5x7", dtype="int64")),
    ),
]
