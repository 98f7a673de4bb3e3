"""Unfolding of convolution windows at selected positions, and the inverse."""

from dl_conformance.vocabulary import T, calls, refused

AT = dict(
    mask_h_idx=T("4", values=[0, 2, 4, 4], plain=True),
    mask_w_idx=T("4", values=[0, 3, 1, 3], plain=True),
)

CASES = [
    calls(
        "MaskedIm2colMmcv",
        dict(im="1x3x5x4", kernel_h=3, kernel_w=2, pad_h=1, pad_w=1, **AT),
        dict(im="1x3x5x4", kernel_h=1, kernel_w=1, pad_h=0, pad_w=0, **AT),
        edges="extreme",
    ),
    calls("MaskedCol2imMmcv", dict(im="1x3x5x4", col="3x4", height=5, width=4, channels=3, **AT)),
    refused(
        "MaskedIm2colMmcv",
        dict(
            im="1x3x5x4",
            kernel_h=3,
            kernel_w=2,
            pad_h=1,
            pad_w=1,
            mask_h_idx=T("4", values=[0, 2, 4, 4], plain=True),
            mask_w_idx=T("4", values=[0, 3, 1, 3], plain=True),
        ),
        dict(col="18x4x1"),
        dict(im="1x3x5x4x1"),
        dict(mask_h_idx=T("4x1", values=[0, 2, 4, 4], plain=True)),
        dict(mask_h_idx=T("5", values=[0, 2, 4, 4], plain=True)),
        dict(kernel_h=-1),
        dict(kernel_w=-1),
        dict(col=T("18x4", dtype="int64")),
        data=[
            dict(im="1x3x5x3"),  # without column 3, which the call reads
            dict(mask_h_idx=T("4", values=[-9], plain=True)),
            dict(mask_w_idx=T("4", values=[-9], plain=True)),
        ],
    ),
    refused(
        "MaskedCol2imMmcv",
        dict(
            im="1x3x5x4",
            col="3x4",
            height=5,
            width=4,
            channels=3,
            mask_h_idx=T("4", values=[0, 2, 4, 4], plain=True),
            mask_w_idx=T("4", values=[0, 3, 1, 3], plain=True),
        ),
        dict(im="1x3x5x4x1"),
        data=[
            dict(mask_h_idx=T("4", values=[-9], plain=True)),
            dict(mask_w_idx=T("4", values=[-9], plain=True)),
        ],
    ),
]
