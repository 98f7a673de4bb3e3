"""Resizing by linear and cubic interpolation, and its gradient."""

from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset", "channels-last")
MODES = {1: ("linear",), 2: ("bilinear", "bicubic"), 3: ("trilinear",)}
SIZES = [
    ([7], [12]),
    ([9], [4]),
    ([1], [5]),
    ([6], [1]),
    ([4, 5], [8, 15]),
    ([7, 6], [3, 11]),
    ([6, 3], [6, 3]),
    ([3, 4, 5], [6, 7, 3]),
    ([4, 1, 3], [4, 3, 1]),
]


def shape(sizes):
    return "x".join(map(str, [2, 3, *sizes]))


def each(dims):
    return [
        (i, o, a, m) for i, o in SIZES if len(i) == dims for m in MODES[dims] for a in (False, True)
    ]


CASES = [
    *(
        calls(
            "UpsampleLinear",
            *(dict(input=shape(i), size=o, align_corners=a, mode=m) for i, o, a, m in each(dims)),
            layouts=LAYOUTS,
        )
        for dims in MODES
    ),
    *(
        calls(
            "UpsampleLinearBackward",
            *(
                dict(
                    grad_output=shape(o),
                    out_size=o,
                    in_size=[2, 3, *i],
                    align_corners=a,
                    mode=m,
                )
                for i, o, a, m in each(dims)
            ),
            layouts=LAYOUTS,
        )
        for dims in MODES
    ),
    refused(
        "UpsampleLinear",
        dict(input="2x3x7", size=[12], align_corners=False, mode="linear"),
        dict(input="2x3x7x1"),
        dict(input="2x3"),
        dict(input="3x3x7"),
        dict(out="2x3x12x1"),
        dict(input=T("2x3x7", low=0, high=1, dtype="int64")),
    ),
    refused(
        "UpsampleLinearBackward",
        dict(
            grad_output="2x3x12",
            out_size=[12],
            in_size=[2, 3, 7],
            align_corners=False,
            mode="linear",
        ),
        dict(grad_input="2x3x7x1"),
    ),
]
