"""Sorted elements and their indices."""

from dl_conformance.vocabulary import T, calls, refused

REALS = "float16 bfloat16 float32 float64 uint8 int8 int16 int32 int64"
LAYOUTS = ("transposed", "strided", "offset")
STABLE = [
    dict(input="5x7", dim=1, descending=False, pStable=True),
    dict(input="5x7", dim=0, descending=True, pStable=True),
    dict(input="3x5x4", dim=-2, descending=False, pStable=True),
    dict(input="2x257", dim=1, descending=True, pStable=True),
    dict(input="0x3", dim=1, descending=False, pStable=True),
]

CASES = [
    calls("Sort", *STABLE, edges="extreme"),
    calls(
        "Argsort",
        *(
            dict(input=x["input"], dim=x["dim"], descending=x["descending"], stable=True)
            for x in STABLE
        ),
    ),
    calls(
        "Argsort",
        dict(input=T("5x7", apart=True), dim=None, descending=False, stable=False),
        dtypes=REALS,
    ),
    calls(
        "Topk",
        dict(input=T("5x7", apart=True), k=3, dim=1, largest=True, sorted=True),
        dict(input=T("5x7", apart=True), k=2, dim=0, largest=False, sorted=True),
        dict(input=T("2x60", apart=True), k=60, dim=-1, largest=True, sorted=True),
        dtypes=REALS,
        layouts=LAYOUTS,
    ),
    calls(
        "SortBackward",
        dict(
            grad_output="4x3",
            dim=1,
            indices=T("4x3", values=[4, 0, 6, 1, 2, 3, 6, 5, 4, 0, 3, 1], dtype="int64"),
            sizes=[4, 7],
            keepdim=True,
        ),
        dict(
            grad_output="4",
            dim=-1,
            indices=T("4", low=0, high=6, dtype="int64"),
            sizes=[4, 7],
            keepdim=False,
        ),
        dict(
            grad_output="4x3x6",
            dim=1,
            # Distinct along dim 1.
            indices=T(
                "4x3x6",
                values=[(i + 2 * j + k) % 5 for i in range(4) for j in range(3) for k in range(6)],
                dtype="int64",
            ),
            sizes=[4, 5, 6],
            keepdim=True,
        ),
        dict(
            grad_output="5x6",
            dim=0,
            indices=T("5x6", low=0, high=3, dtype="int64"),
            sizes=[4, 5, 6],
            keepdim=False,
        ),
        dict(
            grad_output="2x5",
            dim=0,
            indices=T("2x5", values=[0] * 5 + [1] * 5, dtype="int64"),
            sizes=[3, 5],
            keepdim=True,
        ),
        layouts=("transposed", "strided", "offset"),
    ),
    refused(
        "Sort",
        dict(input="5x7", dim=1, descending=False, pStable=True),
        dict(values="5x7x1"),
        dict(values="5x8"),
        dict(input="5"),
        dict(values=T("5x7", dtype="int64")),
    ),
    refused(
        "Argsort",
        dict(input="5x7", dim=1, descending=False, stable=True),
        dict(input="5x7x1"),
    ),
    refused(
        "Topk",
        dict(input=T("5x7", apart=True), k=3, dim=1, largest=True, sorted=True),
        dict(values="5x3x1"),
    ),
    refused(
        "SortBackward",
        dict(
            grad_output="4x3",
            dim=1,
            indices=T("4x3", values=[4, 0, 6, 1, 2, 3, 6, 5, 4, 0, 3, 1], dtype="int64"),
            sizes=[4, 7],
            keepdim=True,
        ),
        dict(grad_output="4x3x1"),
        dict(dim=0),
        dict(grad_input="4x7x1"),
        data=[dict(indices=T("4x3", values=[-9], dtype="int64"))],
    ),
]
