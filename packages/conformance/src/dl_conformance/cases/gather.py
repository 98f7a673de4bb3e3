"""Elements and slices at indices."""

from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset")


def index(shape, below, dtype="int64"):
    return T(shape, low=0, high=below - 1, dtype=dtype)


CASES = [
    calls(
        "IndexSelect",
        dict(input="5x7x3", dim=1, index=index("4", 7)),
        dict(input="5x7", dim=0, index=index("9", 5, "int32")),
        dict(input="5x7", dim=-1, index=index("0", 7)),
        layouts=LAYOUTS,
        edges="extreme",
    ),
    calls(
        "Gather",
        dict(input="5x7", dim=1, index=index("5x3", 7)),
        dict(input="5x7", dim=0, index=index("9x7", 5)),
        dict(input="3x5x4", dim=-2, index=index("2x6x4", 5)),
        layouts=LAYOUTS,
        edges="extreme",
    ),
    calls(
        "IndexSelectBackward",
        dict(grad="5x4x3", input_sizes=[5, 7, 3], dim=1, index=index("4", 7)),
        dict(grad="9x7", input_sizes=[5, 7], dim=0, index=index("9", 5, "int32")),
        dict(grad="5x0", input_sizes=[5, 7], dim=-1, index=index("0", 7)),
        dict(
            grad="4x5x5",
            input_sizes=[4, 5, 6],
            dim=-1,
            index=T("5", values=[3, 0, 3, 1, 3], dtype="int64"),
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "GatherBackward",
        dict(grad_output="5x3", input="5x7", dim=1, index=index("5x3", 7)),
        dict(grad_output="9x7", input="5x7", dim=0, index=index("9x7", 5)),
        dict(grad_output="2x6x4", input="3x5x4", dim=-2, index=index("2x6x4", 5)),
        *(
            dict(grad_output="3x4x2", input="4x5x6", dim=d, index=index("3x4x2", 4))
            for d in (0, -1)
        ),
        layouts=LAYOUTS,
    ),
    refused(
        "IndexSelect",
        dict(input="5x7x3", dim=1, index=T("4", low=0, high=6, dtype="int64")),
        dict(input="5x7x3x1"),
        dict(dim=3),
        dict(input=T("5x7x3", low=0, high=1, dtype="int64")),
        data=[dict(index=T("4", values=[-9], dtype="int64"))],
    ),
    refused(
        "Gather",
        dict(input="5x7", dim=1, index=T("5x3", low=0, high=6, dtype="int64")),
        dict(input="5x7x1"),
        dict(out="5x3x1"),
        data=[dict(index=T("5x3", values=[-9], dtype="int64"))],
    ),
    refused(
        "Gather",
        dict(input="5x7", dim=0, index=T("9x7", low=0, high=4, dtype="int64")),
        dict(input="5x6"),
    ),
    refused(
        "IndexSelectBackward",
        dict(
            grad="5x4x3", input_sizes=[5, 7, 3], dim=1, index=T("4", low=0, high=6, dtype="int64")
        ),
        dict(grad="5x4x3x1"),
        dict(grad_input="5x7x3x1"),
        dict(index=T("4x1", low=0, high=6, dtype="int64")),
        data=[dict(index=T("4", values=[-9], dtype="int64"))],
    ),
    refused(
        "GatherBackward",
        dict(grad_output="5x3", input="5x7", dim=1, index=T("5x3", low=0, high=6, dtype="int64")),
        dict(grad_output="5x3x1"),
        dict(grad_input="5x7x1"),
        data=[dict(index=T("5x3", values=[-9], dtype="int64"))],
    ),
    refused(
        "GatherBackward",
        dict(grad_output="9x7", input="5x7", dim=0, index=T("9x7", low=0, high=4, dtype="int64")),
        dict(dim=-1),
    ),
]
