"""Factorizations and solvers."""

from dl_conformance.vocabulary import T, calls, refused


def definite(shape: str) -> T:
    """Return a diagonally dominant matrix."""
    size = int(shape.rpartition("x")[2])
    return T(shape, low=-0.5, high=0.5, diagonal=size + 1.0)


def triangular(shape: str, size: float = 1.0) -> T:
    return T(shape, low=-size, high=size, diagonal=4 * size)


# The leading minor of order 2 of the 3x3 matrix is 0; the second 2x2 matrix begins with -1.
SINGULAR = (("3x3", [4, 2, 0, 2, 1, 0, 0, 0, 1]), ("2x2x2", [1, 0, 0, 1, -1, 0, 0, 1]))
TRIANGLES = [
    dict(upper=u, transpose=t, unitriangular=d) for u in (0, 1) for t in (0, 1) for d in (0, 1)
]
SHAPES = [
    ("5x4", "5x5"),
    ("1x1", "1x1"),
    ("2x6x1", "2x6x6"),
    ("2x1x5x3", "3x5x5"),
    ("5x3", "3x5x5"),
    ("3x5x3", "5x5"),
    ("4x17", "4x4"),
    ("0x5x4", "0x5x5"),
    ("5x0", "5x5"),
    ("0x3", "0x0"),
]


def flags(chosen: dict[str, int]) -> dict[str, bool]:
    return {name: bool(value) for name, value in chosen.items()}


def solved(b: str, mat: T, **chosen: int) -> dict[str, object]:
    shape = "x".join(map(str, sizes(b, mat)))
    x = T(shape, result_of="diopiTriangularSolve.out")
    return dict(grad_x=shape, x=x, b=b, mat=mat, **flags(chosen))


def sizes(b: str, mat: T) -> tuple[int, ...]:
    """Return the shape of the solution."""
    own, of_mat = tuple(map(int, b.split("x"))), mat.sizes
    longest = max(len(own), len(of_mat)) - 2
    left, right = ((1,) * (longest - len(x) + 2) + x[:-2] for x in (own, of_mat))
    return (*(m if n == 1 else n for n, m in zip(left, right, strict=True)), *own[-2:])


CASES = [
    calls(
        "Cholesky",
        dict(mat=definite("3x5x5"), upper=False, checkerror=False),
        dict(mat=definite("3x5x5"), upper=True, checkerror=False),
        dict(mat=definite("3x5x5"), upper=False, checkerror=True),
        dict(mat=definite("4x4"), upper=False, checkerror=False),
        dict(mat=definite("1x1"), upper=True, checkerror=True),
        dict(mat=definite("2x1x7x7"), upper=True, checkerror=True),
        dict(mat=definite("33x33"), upper=False, checkerror=False),
        dict(mat=definite("70x70"), upper=True, checkerror=False),
        dict(mat=T("0x3x3"), upper=False, checkerror=True),
        dict(mat=T("2x0x0"), upper=False, checkerror=True),
        *(
            dict(mat=T(shape, values=values), upper=upper, checkerror=False)
            for shape, values in SINGULAR
            for upper in (False, True)
        ),
    ),
    calls(
        "CholeskyBackward",
        *(
            dict(grad_output=shape, L=triangular(shape), upper=upper)
            for shape in ("3x5x5", "4x4", "1x1", "2x1x7x7")
            for upper in (False, True)
        ),
        dict(grad_output="40x40", L=triangular("40x40", 0.25), upper=False),
        dict(grad_output="0x3x3", L="0x3x3", upper=False),
        dict(grad_output="2x0x0", L="2x0x0", upper=True),
    ),
    calls(
        "TriangularSolve",
        *(dict(b="3x5x4", mat=triangular("3x5x5"), **flags(x)) for x in TRIANGLES),
        *(dict(b=b, mat=triangular(a), **flags(TRIANGLES[4])) for b, a in SHAPES),
        *(
            dict(b="70x33", mat=triangular("70x70", size), **flags(x))
            for x, size in zip(TRIANGLES, (0.1, 0.05) * 4, strict=True)
        ),
    ),
    calls(
        "TriangularSolveBackward",
        *(solved("3x5x4", triangular("3x5x5"), **x) for x in TRIANGLES),
        *(solved(b, triangular(a), **TRIANGLES[4]) for b, a in SHAPES),
        *(
            solved("2x1x5x3", triangular("3x5x5"), **x) | dict(grad_cloned_mat="2x3x5x5")
            for x in (TRIANGLES[0], TRIANGLES[7])
        ),
        solved("5x4", triangular("5x5"), **TRIANGLES[2]) | dict(grad_mat=None),
        solved("5x4", triangular("5x5"), **TRIANGLES[6]) | dict(grad_cloned_mat="5x5"),
        solved("5x4", triangular("5x5"), **TRIANGLES[4]) | dict(grad_x=None, grad_cloned_mat="5x5"),
        solved("5x4", triangular("5x5"), **TRIANGLES[4]) | dict(grad_x=None),
        solved("40x3", triangular("40x40", 0.2), **TRIANGLES[0]),
    ),
    calls(
        "LinalgQR",
        *(
            dict(A=T("3x6x4", low=-1, high=1, diagonal=2), mode=mode) | without
            for mode, without in (("reduced", {}), ("r", {"Q": None}))
        ),
        *(
            dict(A=T(shape, low=-1, high=1, diagonal=d), mode="reduced")
            for shape, d in (
                ("1x1", 0),
                ("4x4", 1),
                ("2x4x7", 2),
                ("2x2x5x3", -2),
                ("7x1", 0),
                ("1x5", 0),
                ("40x35", 20),
                ("34x70", -20),
                ("0x3x2", 0),
                ("3x0", 0),
                ("0x3", 0),
            )
        ),
        *(
            dict(A=T(shape, low=-1, high=1, diagonal=d), mode="complete")
            for shape, d in (
                ("2x4x2", 3),
                ("4x4", -2),
                ("2x3x5", 2),
                ("6x1", 0),
                ("1x1", 0),
                ("3x0", 0),
                ("0x3", 0),
            )
        ),
        *(
            dict(A=T(shape, low=-1, high=1, diagonal=2), mode="r", Q=None)
            for shape in ("5x3", "3x5")
        ),
    ),
    refused(
        "Cholesky",
        dict(mat=T("3x5x5", low=-0.5, high=0.5, diagonal=6.0), upper=False, checkerror=False),
        dict(info="3x1"),
        dict(mat=T("3x5x5x1", low=-0.5, high=0.5, diagonal=6.0)),
        dict(mat=T("4x5x5", low=-0.5, high=0.5, diagonal=6.0)),
        dict(info=T("3", dtype="int64")),
    ),
    refused(
        "CholeskyBackward",
        dict(grad_output="3x5x5", L=T("3x5x5", low=-1.0, high=1.0, diagonal=4.0), upper=False),
        dict(grad_mat="3x5x5x1"),
        dict(L=T("3x5x5x1", low=-1.0, high=1.0, diagonal=4.0)),
    ),
    refused(
        "TriangularSolve",
        dict(
            b="3x5x4",
            mat=T("3x5x5", low=-1.0, high=1.0, diagonal=4.0),
            upper=False,
            transpose=False,
            unitriangular=False,
        ),
        dict(cloned_mat="3x5x5x1"),
        dict(b="3x5x4x1"),
        dict(b="-"),
    ),
    refused(
        "TriangularSolveBackward",
        dict(
            grad_x="3x5x4",
            x=T("3x5x4", result_of="diopiTriangularSolve.out"),
            b="3x5x4",
            mat=T("3x5x5", low=-1.0, high=1.0, diagonal=4.0),
            upper=False,
            transpose=False,
            unitriangular=False,
        ),
        dict(grad_cloned_mat="1"),
        dict(grad_b="3x5x4x1"),
    ),
    refused(
        "LinalgQR",
        dict(A=T("3x6x4", low=-1, high=1, diagonal=2), mode="reduced"),
        dict(A=T("3x6x4x1", low=-1, high=1, diagonal=2)),
        dict(A=T("3x7x4", low=-1, high=1, diagonal=2)),
        dict(Q=None),
    ),
]
