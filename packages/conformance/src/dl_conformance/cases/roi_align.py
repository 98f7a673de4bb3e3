"""Regions of feature maps, sampled on a grid, along borders and at anchors."""

from dl_conformance.vocabulary import T, calls

LAYOUTS = ("transposed", "strided", "offset")
PLANES = "2x3x5x4"
ROIS = T("3x5", values=[1, 0.5, 1, 3.25, 4, 0, -1, 2, 6, 9, 1, 2, 2, 2, 2.5], plain=True)
TURNED = T(
    "3x6",
    values=[1, 2, 2.5, 3, 2.5, 0.5, 0, 1, 1, 4, 3, -1.25, 0, 3, 3, 0.5, 0.25, 2.5],
    plain=True,
)
EACH = [
    dict(rois=ROIS, sampling_ratio=r, spatial_scale=0.5, aligned=a)
    for r in (2, 0)
    for a in (True, False)
]
POOLED = dict(pooled_height=2, pooled_width=3)
BINS = dict(aligned_height=2, aligned_width=3)
NONE = T("0")
PLACE = T("3x3x2x3", low=-2, high=5)
BOXES = T("2x2x4", values=[0.5, 1, 3, 2.5, -1, 0, 2, 4, 1, 1, 1, 1, 0, 0.25, 6, 5], plain=True)
ANCHORS = dict(best_bboxes=T("2x4x3x5", low=0, high=6, plain=True), spatial_scale=0.5)


def rotated(way):
    return (
        dict(
            rois=TURNED, spatial_scale=0.5, clockwise=way, sampling_ratio=1, aligned=not way, **BINS
        ),
        dict(
            rois=TURNED,
            spatial_scale=0.5,
            clockwise=way,
            num_samples=1,
            num_orientations=3,
            **POOLED,
        ),
    )


CASES = [
    calls("RoiAlign", *(dict(input=PLANES, **x, **POOLED) for x in EACH), layouts=LAYOUTS),
    calls(
        "RoiAlignBackward",
        *(
            dict(grad="3x3x2x3", batch_size=2, channels=3, height=5, width=4, **x, **POOLED)
            for x in EACH
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "RoiAlignMmcv",
        *(dict(input=PLANES, pool_mode=1, **x, **BINS) for x in EACH),
        layouts=LAYOUTS,
    ),
    calls(
        "RoiAlignMmcv",
        *(dict(input=PLANES, pool_mode=0, **x, **BINS) for x in EACH[:2]),
        layouts=LAYOUTS,
    ),
    calls(
        "RoiAlignBackwardMmcv",
        *(
            dict(
                grad_input=PLANES,
                grad_output="3x3x2x3",
                argmax_y=NONE,
                argmax_x=NONE,
                pool_mode=1,
                **x,
                **BINS,
            )
            for x in EACH
        ),
        dict(
            grad_input=PLANES,
            grad_output="3x3x2x3",
            argmax_y=PLACE,
            argmax_x=PLACE,
            pool_mode=0,
            **EACH[0],
            **BINS,
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "RoiAlignRotatedMmcv",
        *(dict(input="2x6x4x3", **rotated(way)[0]) for way in (False, True)),
        layouts=LAYOUTS,
    ),
    calls(
        "RoiAlignRotatedBackwardMmcv",
        *(
            dict(bottom_grad="2x6x4x3", top_grad="3x6x2x3", **rotated(way)[0])
            for way in (False, True)
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "RiroiAlignRotatedMmcv",
        *(dict(features="2x6x4x3", **rotated(way)[1]) for way in (False, True)),
        layouts=LAYOUTS,
    ),
    calls(
        "RiroiAlignRotatedBackwardMmcv",
        *(
            dict(bottom_grad="2x6x4x3", top_grad="3x6x2x3", **rotated(way)[1])
            for way in (False, True)
        ),
        layouts=LAYOUTS,
    ),
    calls("BorderAlignMmcv", dict(input="2x8x4x3", boxes=BOXES, pool_size=4), layouts=LAYOUTS),
    calls(
        "BorderAlignBackwardMmcv",
        dict(
            grad_input="2x8x4x3",
            grad_output="2x2x2x4",
            boxes=BOXES,
            argmax_idx=T("2x2x2x4", low=0, high=4),
            pool_size=4,
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "RotatedFeatureAlignMmcv",
        *(dict(features="2x2x4x3", points=p, **ANCHORS) for p in (5, 1)),
        layouts=LAYOUTS,
    ),
    calls(
        "RotatedFeatureAlignBackwardMmcv",
        *(dict(bottom_grad="2x2x4x3", top_grad="2x2x4x3", points=p, **ANCHORS) for p in (5, 1)),
        layouts=LAYOUTS,
    ),
]
