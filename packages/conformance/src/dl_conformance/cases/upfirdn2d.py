"""Upsampling, filtering and downsampling of images in one operator."""

from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset", "channels-last")


def call(input, kernel, up=(1, 1), down=(1, 1), pad=(0, 0, 0, 0)):
    """Return a call; pairs of numbers are for x and y, as in the operator."""
    numbers = dict(zip(("up_x", "up_y", "down_x", "down_y"), (*up, *down), strict=True))
    ends = dict(zip(("pad_x0", "pad_x1", "pad_y0", "pad_y1"), pad, strict=True))
    return dict(input=input, kernel=kernel, **numbers, **ends)


CASES = [
    calls(
        "Upfirdn2dOpMmcv",
        call("2x3x5x4", "3x4", (2, 3), (3, 2), (2, 1, 1, 3)),
        call("2x2x5x6", "4x4", pad=(2, 1, 2, 1)),
        call("1x2x4x5", "4x4", up=(2, 2), pad=(2, 1, 2, 1)),
        call("1x2x6x8", "4x4", down=(2, 2), pad=(1, 1, 1, 1)),
        call("1x2x6x8", "3x4", down=(2, 3), pad=(5, 3, 4, 2)),
        call("1x2x5x4", "4x5", up=(4, 6), down=(6, 4), pad=(3, 2, 5, 1)),
        call("1x1x7x6", "1x3", up=(4, 1), down=(2, 3), pad=(-3, 2, 1, -2)),
        call("1x2x4x4", "2x2", pad=(-2, 5, 6, -3)),  # some rows are cropped completely
        call("1x1x3x3", "2x3", up=(5, 6), down=(7, 5), pad=(4, 9, -7, 8)),
        call("2x1x3x3", "1x1"),
        call("1x1x1x1", "5x5", pad=(2, 2, 2, 2)),
        call("1x3x33x70", "3x3", up=(2, 1), down=(1, 2), pad=(1, 1, 1, 1)),
        call("0x2x3x3", "2x2"),
        call("2x0x3x3", "2x2", up=(2, 2)),
        call("1x2x0x3", "2x2", pad=(0, 0, 2, 1)),
        layouts=LAYOUTS,
    ),
    refused(
        "Upfirdn2dOpMmcv",
        dict(
            input="2x3x5x4",
            kernel="3x4",
            up_x=2,
            up_y=3,
            down_x=3,
            down_y=2,
            pad_x0=2,
            pad_x1=1,
            pad_y0=1,
            pad_y1=3,
        ),
        dict(input="2x3x5x4x1"),
        dict(kernel="3x4x1"),
        dict(up_x=-1),
        dict(up_y=-1),
        dict(input=T("2x3x5x4", low=0, high=1, dtype="int64")),
    ),
]
