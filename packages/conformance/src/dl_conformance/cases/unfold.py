"""Unfolding of image windows to columns, and the inverse."""

from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset")
WINDOW = dict(kernel_size=[2, 3], dilation=[1, 1], padding=[1, 0], stride=[2, 1])
PLAIN = dict(kernel_size=[2, 2], dilation=[1, 1], padding=[0, 0], stride=[2, 2])

CASES = [
    calls(
        "Im2Col",
        dict(input="2x3x6x5", **WINDOW),
        dict(input="3x4x4", **PLAIN),
        layouts=LAYOUTS,
        edges="extreme",
    ),
    calls(
        "Col2Im",
        dict(input="2x18x12", output_size=[6, 5], **WINDOW),
        dict(input="12x4", output_size=[4, 4], **PLAIN),
        layouts=LAYOUTS,
    ),
    calls(
        "UnfoldBackward",
        dict(grad_output="3x4x4", input_sizes=[3, 10], dim=1, size=4, step=2),
        dict(grad_output="3x5x3", input_sizes=[7, 5], dim=0, size=3, step=2),
        dict(grad_output="2x5x2", input_sizes=[7, 5], dim=0, size=2, step=3),
        layouts=LAYOUTS,
    ),
    calls(
        "Unfold",
        *(
            dict(input=s, dim=d, size=n, step=k)
            for s, d, n, k in (
                ("5x9", 1, 3, 2),
                ("5x9x2", -2, 9, 1),
                ("7", 0, 2, 3),
                ("4x5", 0, 1, 1),
                ("5x6x7", 0, 3, 1),
                ("5x6x7", -1, 5, 9),
            )
        ),
        edges="extreme",
    ),
    refused(
        "Im2Col",
        dict(input="2x3x6x5", kernel_size=[2, 3], dilation=[1, 1], padding=[1, 0], stride=[2, 1]),
        dict(input="2x3x6x5x1"),
        dict(input="2x3x6x6"),
        dict(kernel_size=[2, -1]),
        dict(kernel_size=[2, 99]),
        dict(stride=[]),
        dict(input=T("2x3x6x5", low=0, high=1, dtype="int64")),
    ),
    refused(
        "Col2Im",
        dict(
            input="2x18x12",
            output_size=[6, 5],
            kernel_size=[2, 3],
            dilation=[1, 1],
            padding=[1, 0],
            stride=[2, 1],
        ),
        dict(input="2x18x12x1"),
    ),
    refused(
        "UnfoldBackward",
        dict(grad_output="3x4x4", input_sizes=[3, 10], dim=1, size=4, step=2),
        dict(grad_input="3x10x1"),
        dict(grad_input="3"),
        dict(grad_input="4x10"),
    ),
    refused(
        "Unfold",
        dict(input="5x9", dim=1, size=3, step=2),
        dict(input="5x9x1"),
        dict(size=-1),
    ),
]
