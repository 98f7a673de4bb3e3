"""Convolution filters rotated by a table."""

from dl_conformance.vocabulary import T, calls, refused

# Three permutations of the eight positions of an oriented filter, interleaved in the table.
ROTATIONS = ([1, 2, 3, 4, 5, 6, 7, 8], [3, 1, 4, 8, 6, 7, 2, 5], [8, 6, 7, 2, 1, 3, 5, 4])
TABLE = T("2x2x2x3", values=[x for each in zip(*ROTATIONS, strict=True) for x in each], plain=True)
LAYOUTS = ("transposed", "strided", "offset")

CASES = [
    calls("ActiveRotatedFilterMmcv", dict(input="3x2x2x2x2", indices=TABLE), layouts=LAYOUTS),
    calls(
        "ActiveRotatedFilterBackwardMmcv", dict(grad_out="9x4x2x2", indices=TABLE), layouts=LAYOUTS
    ),
    refused(
        "ActiveRotatedFilterMmcv",
        dict(
            input="3x2x2x2x2",
            indices=T(
                "2x2x2x3",
                values=[1, 3, 8, 2, 1, 6, 3, 4, 7, 4, 8, 2, 5, 6, 1, 6, 7, 3, 7, 2, 5, 8, 5, 4],
                plain=True,
            ),
        ),
        dict(input="3x2x2x2x2x1"),
        dict(input="3x2x2x2x3"),
        dict(input="4x2x2x2x2"),
        dict(input=T("3x2x2x2x2", low=0, high=1, dtype="int64")),
    ),
    refused(
        "ActiveRotatedFilterBackwardMmcv",
        dict(
            grad_out="9x4x2x2",
            indices=T(
                "2x2x2x3",
                values=[1, 3, 8, 2, 1, 6, 3, 4, 7, 4, 8, 2, 5, 6, 1, 6, 7, 3, 7, 2, 5, 8, 5, 4],
                plain=True,
            ),
        ),
        dict(grad_in="3x2x2x2x2x1"),
    ),
]
