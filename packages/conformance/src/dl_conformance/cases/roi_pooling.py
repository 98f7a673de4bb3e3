"""Pooling over regions of feature maps: max pooling, exact means, and deformable bins."""

from dl_conformance.vocabulary import T, calls

LAYOUTS = ("transposed", "strided", "offset", "channels-last")
PLANES = "2x3x5x4"
BINS = dict(pooled_height=2, pooled_width=3)
POOLED = "4x3x2x3"


def regions(*numbers):
    """Return rows of batch index, x1, y1, x2, y2."""
    return T((len(numbers) // 5, 5), values=numbers, plain=True)


# Regions inside the plane, across its border, empty, and outside.
ROIS = regions(1, 0.5, 1, 5.25, 7, 0, -3, 2, 6, 13, 1, 2, 3, 2, 3, 0, 19, 1, 23, 5)
# Regions of one cell, of all cells, with edges on cell borders, and with swapped corners.
WHOLE = regions(0, 2, 1, 2, 1, 1, 0, 0, 3, 4, 0, 1, 1, 3, 2, 1, 3, 3, 1, 1)
NOWHERE = T("0x5")
ALL = [
    dict(rois=ROIS, spatial_scale=0.5, **BINS),
    dict(rois=WHOLE, spatial_scale=1.0, **BINS),
    dict(rois=ROIS, spatial_scale=0.3, pooled_height=1, pooled_width=1),
    dict(rois=WHOLE, spatial_scale=2.0, pooled_height=5, pooled_width=7),
]
SINGLE = "4x3x1x1"
MANY = "4x3x5x7"
SHAPES = [POOLED, POOLED, SINGLE, MANY]
LARGE = regions(*(x for k in range(12) for x in (k % 2, k % 7, k % 5, k % 7 + 9.5, k % 5 + 8.25)))
LARGER = dict(rois=LARGE, spatial_scale=0.75, pooled_height=3, pooled_width=3)
MOVED = [
    dict(
        rois=rois,
        offset=T("4x2x2x3", low=-1.5, high=1.5),
        sampling_ratio=ratio,
        spatial_scale=0.5,
        gamma=gamma,
        **BINS,
    )
    for rois, ratio, gamma in ((ROIS, 2, 0.125), (WHOLE, 0, 0.1), (ROIS, 0, 1.0))
]
STILL = [
    dict(MOVED[0], offset=None),
    dict(MOVED[1], offset=T("0")),
]

CASES = [
    calls(
        "RoiPoolMmcv",
        *(dict(input=PLANES, **x) for x in ALL),
        dict(input=T(PLANES, values=[0.5, 2, 2, -1]), **ALL[0]),
        dict(input="2x4x16x12", **LARGER),
        dict(input=PLANES, rois=NOWHERE, spatial_scale=1.0, **BINS),
        dict(input="2x3x0x4", **ALL[0]),
        layouts=LAYOUTS,
        edges="extreme",
    ),
    calls(
        "RoiPoolBackwardMmcv",
        *(
            dict(grad_input=PLANES, grad_output=s, argmax=T(s, low=-1, high=19), **x)
            for s, x in zip(SHAPES, ALL, strict=True)
        ),
        dict(grad_input=PLANES, grad_output=POOLED, argmax=T(POOLED, values=[7]), **ALL[0]),
        dict(
            grad_input="2x4x16x12",
            grad_output="12x4x3x3",
            argmax=T("12x4x3x3", low=-1, high=191),
            **LARGER,
        ),
        dict(
            grad_input=PLANES,
            grad_output="0x3x2x3",
            argmax=T("0x3x2x3"),
            rois=NOWHERE,
            **BINS,
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "PrroiPoolMmcv",
        *(dict(input=PLANES, **x) for x in ALL),
        dict(input="2x4x16x12", **LARGER),
        dict(input=PLANES, rois=NOWHERE, spatial_scale=1.0, **BINS),
        dict(input="2x3x0x4", **ALL[0]),
        layouts=LAYOUTS,
    ),
    calls(
        "PrroiPoolbackwardMmcv",
        *(dict(grad_input=PLANES, grad_output=s, **x) for s, x in zip(SHAPES, ALL, strict=True)),
        dict(grad_input="2x4x16x12", grad_output="12x4x3x3", **LARGER),
        dict(grad_input=PLANES, grad_output="0x3x2x3", rois=NOWHERE, **BINS),
        layouts=LAYOUTS,
    ),
    calls(
        "PrroiPoolCoorBackwardMmcv",
        *(
            dict(
                grad_rois="4x5",
                output=T(s, result_of="diopiPrroiPoolMmcv.output"),
                grad_output=s,
                input=PLANES,
                **x,
            )
            for s, x in zip(SHAPES, ALL, strict=True)
        ),
        # The operator interprets the output as the mean, whatever it contains.
        dict(grad_rois="4x5", output=POOLED, grad_output=POOLED, input=PLANES, **ALL[0]),
        dict(
            grad_rois="12x5",
            output=T("12x4x3x3", result_of="diopiPrroiPoolMmcv.output"),
            grad_output="12x4x3x3",
            input="2x4x16x12",
            **LARGER,
        ),
        dict(
            grad_rois=NOWHERE,
            output="0x3x2x3",
            grad_output="0x3x2x3",
            input=PLANES,
            rois=NOWHERE,
            **BINS,
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "DeformRoiPoolMmcv",
        *(dict(input=PLANES, **x) for x in MOVED + STILL),
        dict(
            input="2x4x16x12",
            offset=T("12x2x3x3", low=-1, high=1),
            sampling_ratio=2,
            gamma=0.25,
            **LARGER,
        ),
        dict(input=PLANES, rois=NOWHERE, offset=T("0x2x2x3"), **BINS),
        layouts=LAYOUTS,
    ),
    calls(
        "DeformRoiPoolBackwardMmcv",
        *(
            dict(
                grad_input=PLANES,
                grad_offset="4x2x2x3",
                grad_output=POOLED,
                input=PLANES,
                **x,
            )
            for x in MOVED
        ),
        *(
            dict(grad_input=PLANES, grad_offset=g, grad_output=POOLED, input=PLANES, **x)
            for g, x in zip((None, T("0")), STILL, strict=True)
        ),
        dict(grad_input=PLANES, grad_offset=None, grad_output=POOLED, input=PLANES, **MOVED[0]),
        dict(
            grad_input="2x4x16x12",
            grad_offset="12x2x3x3",
            grad_output="12x4x3x3",
            input="2x4x16x12",
            offset=T("12x2x3x3", low=-1, high=1),
            sampling_ratio=2,
            gamma=0.25,
            **LARGER,
        ),
        dict(
            grad_input=PLANES,
            grad_offset="0x2x2x3",
            grad_output="0x3x2x3",
            input=PLANES,
            rois=NOWHERE,
            offset=T("0x2x2x3"),
            **BINS,
        ),
        layouts=LAYOUTS,
    ),
]
