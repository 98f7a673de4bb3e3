"""LU factorization and the row permutation of its pivots."""

from dl_conformance.vocabulary import T, calls


def matrix(shape: str, diagonal: float = 0.0) -> T:
    return T(shape, low=-1, high=1, diagonal=diagonal)


# A matrix in which every step but the last clearly swaps rows.
EXCHANGED = [1, 2, 8, 2, 8, 1, 8, 1, 3]
# The second pivot of the 3x3 matrix is 0. The second 2x2 matrix begins with a column of zeros.
SINGULAR = (("3x3", [2, 4, 1, 1, 2, 4, 4, 8, 1]), ("2x2x2", [1, 0, 0, 1, 0, 0, 0, 1]))

CASES = [
    calls(
        "dlopLinalgLu",
        dict(mat=matrix("3x5x5"), checkerror=False),
        dict(mat=matrix("3x5x5", 8), checkerror=True),
        dict(mat=T("3x3", values=EXCHANGED), checkerror=True),
        dict(mat=matrix("2x6x4"), checkerror=False),
        dict(mat=matrix("2x4x7"), checkerror=False),
        dict(mat=matrix("1x1"), checkerror=True),
        dict(mat=matrix("2x1x7x7"), checkerror=False),
        dict(mat=matrix("5x1"), checkerror=False),
        dict(mat=matrix("1x5"), checkerror=False),
        dict(mat=matrix("130x3x3", 5), checkerror=True),
        dict(mat=matrix("40x35", 12), checkerror=False),
        dict(mat=matrix("34x70", 12), checkerror=False),
        dict(mat=matrix("70x70", 25), checkerror=True),
        dict(mat="0x3x3", checkerror=True),
        dict(mat="2x0x0", checkerror=True),
        dict(mat="2x3x0", checkerror=True),
        dict(mat="2x0x3", checkerror=True),
        *(dict(mat=T(shape, values=values), checkerror=False) for shape, values in SINGULAR),
    ),
    calls(
        "dlopPivotsToPermutation",
        dict(pivots=T("2x4", values=[2, 4, 3, 4, 1, 3, 3, 4]), out=T("2x4")),
        dict(pivots=T("2x3", values=[5, 2, 4, 1, 1, 1]), out=T("2x5")),
        dict(pivots=T("5", low=1, high=5, plain=True), out=T("5")),
        dict(pivots=T("2x2x40", low=1, high=50, plain=True), out=T("2x2x50")),
        dict(pivots=T("1", values=[1]), out=T("1")),
        dict(pivots=T("2x0", values=[]), out=T("2x3")),
        dict(pivots=T("0x3", values=[1]), out=T("0x3")),
        dict(pivots=T("2x0", values=[]), out=T("2x0")),
    ),
]
