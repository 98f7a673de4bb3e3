"""Indexing by tensors of indices and masks."""

from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset")


def places(shape, below):
    return T(shape, low=-below, high=below - 1, dtype="int64")


# Indices into 5 and 7 are unique: the contract does not define which of two writes wins.
ONCE = T("3", values=[3, 0, -1], dtype="int64")
MASK = T("5", values=[1, 0, 1, 1, 0], dtype="bool")

BROADCAST = [
    T("2x3", values=[3, 0, 3, 3, -1, 0], dtype="int64"),
    T("3", values=[1, 2, 1], dtype="int64"),
]

CASES = [
    calls(
        "Index",
        dict(input="5x7x3", indices=[places("4", 5)]),
        dict(input="5x7x3", indices=[None, places("2x3", 7)]),
        dict(input="5x7", indices=[places("4", 5), places("3x1", 7)]),
        dict(input="5x7", indices=[MASK]),
        dict(input="5x7x3", indices=[places("4", 5), None, places("4", 3)]),
        layouts=LAYOUTS,
        edges="extreme",
    ),
    calls(
        "IndexPut IndexPutInp",
        dict(input="5x7", values="3x7", indices=[ONCE], accumulate=False),
        dict(input="5x7", values="7", indices=[MASK], accumulate=False),
        dict(input="5x7", values="-", indices=[None, ONCE], accumulate=False),
        layouts=LAYOUTS,
    ),
    calls(
        "IndexPut IndexPutInp",
        dict(input="5x7", values="9x7", indices=[places("9", 5)], accumulate=True),
        layouts=LAYOUTS,
    ),
    calls(
        "IndexBackward",
        *(
            dict(zeros_like_input=T(s, values=[0]), indices=x, grad_output=g)
            for s, x, g in (
                ("5x7x3", [places("4", 5)], "4x7x3"),
                ("5x7x3", [None, places("2x3", 7)], "5x2x3x3"),
                ("5x7", [places("40", 5), places("40", 7)], "40"),
                ("5x7", [MASK], "3x7"),
                ("5x7x3", [places("4", 5), None, places("4", 3)], "4x7"),
                ("4x5x6", BROADCAST, "2x3x6"),
            )
        ),
        layouts=LAYOUTS,
    ),
    refused(
        "Index",
        dict(input="5x7x3", indices=[T("4", low=-5, high=4, dtype="int64")]),
        dict(input="-"),
        data=[dict(indices=[T("4", values=[-9], dtype="int64")])],
    ),
    refused(
        "Index",
        dict(input="5x7x3", indices=[None, T("2x3", low=-7, high=6, dtype="int64")]),
        dict(indices=[None]),
    ),
    refused(
        "IndexPut",
        dict(
            input="5x7",
            values="3x7",
            indices=[ONCE],
            accumulate=False,
        ),
        dict(input="5x7x1"),
        dict(values="3x7x1"),
        dict(values="3"),
        dict(input=T("5x7", low=0, high=1, dtype="int64")),
        data=[dict(indices=[T("3", values=[-9, 1, 2], dtype="int64")])],
    ),
    refused(
        "IndexPut",
        dict(
            input="5x7",
            values="7",
            indices=[T("5", values=[1, 0, 1, 1, 0], dtype="bool")],
            accumulate=False,
        ),
        dict(indices=[T("5x1", values=[1, 0, 1, 1, 0], dtype="bool")]),
    ),
    refused(
        "IndexPutInp",
        dict(
            input="5x7",
            values="3x7",
            indices=[ONCE],
            accumulate=False,
        ),
        dict(input="5x7x1"),
        data=[dict(indices=[T("3", values=[-9, 1, 2], dtype="int64")])],
    ),
    refused(
        "IndexBackward",
        dict(
            zeros_like_input=T("5x7x3", values=[0]),
            indices=[T("4", low=-5, high=4, dtype="int64")],
            grad_output="4x7x3",
        ),
        dict(grad_input="5x7x3x1"),
        data=[dict(indices=[T("4", values=[-9], dtype="int64")])],
    ),
]
