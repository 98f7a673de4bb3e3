"""Upsampling by kernels that depend on the content, and its gradients."""

from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset", "channels-last")


def call(n, channels, height, width, kernel, groups, scale):
    plane = f"{height * scale}x{width * scale}"
    return dict(
        features=f"{n}x{channels}x{height}x{width}",
        rfeatures=f"{n}x{height}x{width}x{channels}",
        masks=f"{n}x{groups * kernel * kernel}x{plane}",
        top_grad=f"{n}x{channels}x{plane}",
        kernel_size=kernel,
        group_size=groups,
        scale_factor=scale,
    )


SIZES = [
    call(2, 6, 4, 3, 3, 2, 2),
    call(1, 3, 3, 5, 5, 1, 3),
    call(2, 4, 3, 3, 1, 4, 1),
    call(1, 8, 1, 1, 3, 1, 2),  # a window larger than the plane
    call(1, 37, 5, 4, 3, 1, 2),
    call(0, 2, 3, 3, 3, 1, 2),
    call(1, 0, 3, 3, 3, 2, 2),
    call(1, 2, 0, 3, 3, 1, 2),
]


def only(*names):
    numbers = ("kernel_size", "group_size", "scale_factor")
    return [{name: x[name] for name in (*names, *numbers)} for x in SIZES]


CASES = [
    calls("CarafeMmcv CarafeNaiveMmcv", *only("features", "masks"), layouts=LAYOUTS),
    calls("CarafeBackwardMmcv", *only("top_grad", "rfeatures", "masks"), layouts=LAYOUTS),
    calls(
        "CarafeNaiveBackwardMmcv",
        *(
            dict(x, bottom_grad=T(x["features"]), mask_grad=T(x["masks"]))
            for x in only("top_grad", "features", "masks")
        ),
        layouts=LAYOUTS,
    ),
    refused(
        "CarafeMmcv",
        dict(features="2x6x4x3", masks="2x18x8x6", kernel_size=3, group_size=2, scale_factor=2),
        dict(rfeatures="2x4x3"),
        dict(routput="2x8x6"),
        dict(rmasks="2x8x6"),
        dict(features="2x6x4x3x1"),
        dict(features="2x6x4x4"),
        dict(features="3x6x4x3"),
        dict(features="2x7x4x3"),
        dict(kernel_size=-1),
        dict(group_size=-1),
        dict(scale_factor=-1),
        dict(rfeatures=T("2x4x3x6", dtype="int64")),
    ),
    refused(
        "CarafeMmcv",
        dict(features="1x3x3x5", masks="1x25x9x15", kernel_size=5, group_size=1, scale_factor=3),
        dict(features="1x4x3x5"),
    ),
    refused(
        "CarafeNaiveMmcv",
        dict(features="2x6x4x3", masks="2x18x8x6", kernel_size=3, group_size=2, scale_factor=2),
        dict(features="2x6x4x3x1"),
    ),
    refused(
        "CarafeBackwardMmcv",
        dict(
            top_grad="2x6x8x6",
            rfeatures="2x4x3x6",
            masks="2x18x8x6",
            kernel_size=3,
            group_size=2,
            scale_factor=2,
        ),
        dict(rtop_grad="2x8x6"),
        dict(rbottom_grad_hs="2x8x6"),
        dict(rbottom_grad="2x4x3"),
        dict(rmask_grad="2x8x6"),
        dict(mask_grad="2x18x8x6x1"),
    ),
    refused(
        "CarafeNaiveBackwardMmcv",
        dict(
            top_grad="2x6x8x6",
            features="2x6x4x3",
            masks="2x18x8x6",
            kernel_size=3,
            group_size=2,
            scale_factor=2,
            bottom_grad="2x6x4x3",
            mask_grad="2x18x8x6",
        ),
        dict(bottom_grad="2x6x4x3x1"),
    ),
]
