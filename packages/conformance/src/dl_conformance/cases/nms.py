"""Non-maximum suppression of boxes with overlaps that are not close to the thresholds."""

from dl_conformance import boxes
from dl_conformance.inputs import uniform
from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset")


def rows(values, width):
    return T((len(values), width), values=values or [0.0], plain=True)


def order(count):
    return sorted(range(count), key=uniform("order", count, 0, 1).tolist().__getitem__)


def scores(count):
    """Return the scores of the boxes: (count - r) / 64 for the box of rank r."""
    found = [0.0] * count
    for rank, box in enumerate(order(count)):
        found[box] = (count - rank) / 64
    return T((count,), values=found or [0.0], plain=True)


def rotated(labels):
    given = boxes.rotated(12, "nms")
    return [[*box, float(i % 2)] for i, box in enumerate(given)] if labels else given


COUNTS = (70, 1, 0)

CASES = [
    calls(
        "Nms",
        *(
            dict(boxes=rows(boxes.upright(n, "nms"), 4), confidence=scores(n), iou_threshold=0.31)
            for n in COUNTS
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "NmsMmcv",
        *(
            dict(
                dets=rows(boxes.upright(n, "nms"), 4),
                scores=scores(n),
                iou_threshold=0.31,
                offset=o,
            )
            for n in COUNTS
            for o in (0, 1)
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "NmsRotatedMmcv",
        *(
            dict(
                dets=rows(rotated(several), 6 if several else 5),
                scores=scores(12),
                order=T("12", values=order(12), plain=True),
                dets_sorted=rows([rotated(several)[i] for i in order(12)], 6 if several else 5),
                labels=None,
                iou_threshold=0.25,
                multi_label=several,
            )
            for several in (False, True)
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "Iou3dNms3dMmcv Iou3dNms3dNormalMmcv",
        dict(boxes=rows(boxes.rotated_3d(12, "nms"), 7), nms_overlap_thresh=0.25),
        dict(boxes=rows(boxes.rotated_3d(1, "nms"), 7), nms_overlap_thresh=0.25),
        layouts=LAYOUTS,
    ),
    refused(
        "Nms",
        dict(boxes=T("70x4", plain=True), confidence=T("70", plain=True), iou_threshold=0.31),
        dict(boxes=T("70x4x1", plain=True)),
        dict(boxes=T("71x4", plain=True)),
        dict(boxes=T("70x4", low=0, high=1, dtype="int64", plain=True)),
    ),
    refused(
        "NmsMmcv",
        dict(dets=T("70x4", plain=True), scores=T("70", plain=True), iou_threshold=0.31, offset=0),
        dict(dets=T("70x4x1", plain=True)),
    ),
    refused(
        "NmsRotatedMmcv",
        dict(
            dets=T("12x5", plain=True),
            scores=T("12", plain=True),
            order=T("12", values=[2, 11, 4, 8, 10, 9, 0, 6, 3, 1, 7, 5], plain=True),
            dets_sorted=T("12x5", plain=True),
            labels=None,
            iou_threshold=0.25,
            multi_label=False,
        ),
        dict(dets=T("12x5x1", plain=True)),
        dict(scores=T("12x1", plain=True)),
        dict(dets_sorted=T("12x5x1", plain=True)),
        dict(order=T("12x1", values=[2, 11, 4, 8, 10, 9, 0, 6, 3, 1, 7, 5], plain=True)),
        data=[dict(order=T("12", values=[-9], plain=True))],
    ),
    refused(
        "Iou3dNms3dMmcv",
        dict(boxes=T("12x7", plain=True), nms_overlap_thresh=0.25),
        dict(keep="12x1"),
        dict(keep_num="2"),
        dict(boxes=T("12x7x1", plain=True)),
    ),
    refused(
        "Iou3dNms3dNormalMmcv",
        dict(boxes=T("12x7", plain=True), nms_overlap_thresh=0.25),
        dict(keep="12x1"),
    ),
]
