"""Writes of elements at indices."""

from dl_conformance.vocabulary import T, calls, refused

NUMBERS = "float16 bfloat16 float32 float64 int8 int16 int32 int64"
LAYOUTS = ("transposed", "strided", "offset")
ONCE = T("2x7", values=[0, 1, 2, 3, 4, 0, 1, 3, 4, 0, 1, 2, 3, 4], dtype="int64")
OFTEN = T("4x7", low=0, high=4, dtype="int64")

CASES = [
    calls(
        "Scatter ScatterInp",
        dict(input="5x7", dim=0, src="2x7", index=ONCE, reduce=""),
        layouts=LAYOUTS,
    ),
    calls(
        "ScatterScalar ScatterInpScalar",
        dict(input="5x7", dim=0, value=9, index=ONCE, reduce=""),
        layouts=LAYOUTS,
    ),
    *(
        calls(
            "Scatter ScatterInp",
            dict(input="5x7", dim=0, src="4x7", index=OFTEN, reduce=r),
            dtypes=NUMBERS,
            layouts=LAYOUTS,
        )
        for r in ("add", "multiply")
    ),
    *(
        calls(
            "ScatterScalar ScatterInpScalar",
            dict(input="5x7", dim=0, value=2, index=OFTEN, reduce=r),
            dtypes=NUMBERS,
            layouts=LAYOUTS,
        )
        for r in ("add", "multiply")
    ),
    calls(
        "OneHot",
        dict(input=T("5x7", low=0, high=4, dtype="int64"), num_classes=6),
        dict(input=T("9", values=[3, 0, 1], dtype="int64"), num_classes=-1),
        dict(input=T("-", values=[2], dtype="int64"), num_classes=3),
        dict(input=T("-", values=[2], dtype="int64"), num_classes=-1),
        layouts=LAYOUTS,
    ),
    refused(
        "Scatter",
        dict(
            input="5x7",
            dim=0,
            src="2x7",
            index=T("2x7", values=[0, 1, 2, 3, 4, 0, 1, 3, 4, 0, 1, 2, 3, 4], dtype="int64"),
            reduce="",
        ),
        dict(input="5x7x1"),
        dict(dim=3),
        dict(src="2x7x1"),
        dict(src="2x6"),
        dict(input=T("5x7", low=0, high=1, dtype="int64")),
        data=[dict(index=T("2x7", values=[-9], dtype="int64"))],
    ),
    refused(
        "ScatterInp",
        dict(
            input="5x7",
            dim=0,
            src="2x7",
            index=T("2x7", values=[0, 1, 2, 3, 4, 0, 1, 3, 4, 0, 1, 2, 3, 4], dtype="int64"),
            reduce="",
        ),
        dict(input="5x6"),
        data=[dict(index=T("2x7", values=[-9], dtype="int64"))],
    ),
    refused(
        "ScatterScalar ScatterInpScalar",
        dict(
            input="5x7",
            dim=0,
            value=9,
            index=T("2x7", values=[0, 1, 2, 3, 4, 0, 1, 3, 4, 0, 1, 2, 3, 4], dtype="int64"),
            reduce="",
        ),
        dict(input="5x7x1"),
        data=[dict(index=T("2x7", values=[-9], dtype="int64"))],
    ),
    refused(
        "OneHot",
        dict(input=T("5x7", low=0, high=4, dtype="int64"), num_classes=6),
        dict(num_classes=0),
        data=[dict(input=T("5x7", values=[-9], dtype="int64"))],
    ),
]
