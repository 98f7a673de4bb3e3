"""Overlaps of axis-aligned boxes, rotated boxes, quadrilaterals and point sets."""

from dl_conformance import boxes
from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset")


def rows(values):
    return T((len(values), len(values[0]) if values else 0), values=values)


VERTICES = [[[0.5, 0.25], [-0.5, 0.75], [-0.25, -0.5], [0.75, -0.25]][i % 4] for i in range(24)]
MASK = [1 if i in (1, 4, 6, 11, 15) else 0 for i in range(24)]

CASES = [
    calls(
        "BboxOverlapsMmcv",
        *(
            dict(
                bboxes1=rows(boxes.upright(n, "first")),
                bboxes2=rows(boxes.upright(5, "second")),
                mode=m,
                offset=o,
                aligned=a,
            )
            for m in (0, 1)
            for o in (0, 1)
            for n, a in ((7, False), (5, True))
        ),
        layouts=LAYOUTS,
    ),
    *(
        calls(
            name,
            *(
                dict(
                    bboxes1=rows(make(3, "first")),
                    bboxes2=rows(make(3 if a else 2, "second")),
                    mode=m,
                    aligned=a,
                )
                for m in (0, 1)
                for a in (False, True)
            ),
            dtypes="float32 float64",
            layouts=LAYOUTS,
        )
        for name, make in (
            ("BoxIouRotatedMmcv", boxes.rotated),
            ("BoxIouQuadriMmcv", boxes.quadrilaterals),
        )
    ),
    calls(
        "ConvexIouMmcv",
        dict(pointsets=rows(boxes.point_sets(2, "a")), polygons=rows(boxes.quadrilaterals(2, "a"))),
        dtypes="float32 float64",
        layouts=LAYOUTS,
    ),
    calls(
        "ConvexGiouMmcv",
        dict(pointsets=rows(boxes.point_sets(2, "b")), polygons=rows(boxes.quadrilaterals(2, "b"))),
        dtypes="float32",
        layouts=LAYOUTS,
    ),
    calls(
        "Iou3dBoxesOverlapBevMmcv",
        dict(boxes_a=rows(boxes.rotated_3d(5, "a")), boxes_b=rows(boxes.rotated_3d(5, "b"))),
        layouts=LAYOUTS,
    ),
    calls(
        "DiffIouRotatedSortVerticesMmcv",
        dict(
            vertices=T(
                "1x2x24x2", values=[x + 0.01 * i for i, v in enumerate(VERTICES) for x in v]
            ),
            mask=T("1x2x24", values=MASK, dtype="bool", plain=True),
            num_valid=T("1x2", values=[5], plain=True),
        ),
        layouts=LAYOUTS,
    ),
    refused(
        "BboxOverlapsMmcv",
        dict(bboxes1="7x4", bboxes2="5x4", mode=0, offset=0, aligned=False),
        dict(ious="7"),
        dict(bboxes1="7x4x1"),
        dict(bboxes2="5x4x1"),
        dict(aligned=True),
        dict(ious=T("7x5", dtype="int64")),
    ),
    refused(
        "BoxIouRotatedMmcv",
        dict(bboxes1="3x5", bboxes2="2x5", mode=0, aligned=False),
        dict(ious="3"),
    ),
    refused(
        "BoxIouQuadriMmcv",
        dict(bboxes1="3x8", bboxes2="2x8", mode=0, aligned=False),
        dict(ious="3"),
    ),
    refused(
        "ConvexIouMmcv",
        dict(pointsets="2x18", polygons="2x8"),
        dict(ious="2"),
    ),
    refused(
        "ConvexGiouMmcv",
        dict(pointsets="2x18", polygons="2x8"),
        dict(output="2x19x1"),
    ),
    refused(
        "Iou3dBoxesOverlapBevMmcv",
        dict(boxes_a="5x7", boxes_b="5x7"),
        dict(ans_overlap="5"),
    ),
    refused(
        "DiffIouRotatedSortVerticesMmcv",
        dict(
            vertices="1x2x24x2",
            mask=T(
                "1x2x24",
                values=[0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
                dtype="bool",
                plain=True,
            ),
            num_valid=T("1x2", values=[5], plain=True),
        ),
        dict(vertices="1x2x24x2x1"),
        dict(vertices="2x2x24x2"),
        dict(num_valid=T("1x2x1", values=[5], plain=True)),
    ),
]
