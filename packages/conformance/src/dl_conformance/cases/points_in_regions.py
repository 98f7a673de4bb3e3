"""Points in polygons and boxes, and the smallest rectangles around points."""

from dl_conformance import boxes
from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset")


def rows(values):
    return T((len(values), len(values[0])), values=values, plain=True)


# Ten points at each of two heights; the second batch is translated.
POINTS = [[x + 0.1, y + 0.2, z] for z in (1.5, 9.0) for x, y in boxes.grid(5, 2, 4.5)] + [
    [x + 0.7, y + 0.4, 2.0] for x, y in boxes.grid(5, 4, 4.0)
]
STANDING = dict(
    boxes=T("2x5x7", values=[x for row in boxes.rotated_3d(10, "points") for x in row], plain=True),
    pts=T("2x20x3", values=[x for point in POINTS for x in point], plain=True),
)

CASES = [
    # Point sets whose second smallest rectangle is at least 1 % larger than the smallest one.
    calls(
        "MinAreaPolygonsMmcv",
        dict(pointsets=rows(boxes.point_sets(6, "rectangles"))),
        dtypes="float32 float64",
        layouts=LAYOUTS,
    ),
    calls(
        "PointsInPolygonsMmcv",
        dict(
            points=rows([[x + 0.3, y + 0.1] for x, y in boxes.grid(8, 5, 2.5)]),
            polygons=rows(boxes.quadrilaterals(6, "points")),
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "PointsInBoxesPartMmcv",
        dict(box_idx_of_points=T("2x20", values=[-1]), **STANDING),
        layouts=LAYOUTS,
    ),
    calls(
        "PointsInBoxesAllMmcv",
        dict(box_idx_of_points=T("2x20x5", values=[0]), **STANDING),
        layouts=LAYOUTS,
    ),
    refused(
        "MinAreaPolygonsMmcv",
        dict(pointsets=T("6x18", plain=True)),
        dict(polygons="6x8x1"),
        dict(pointsets=T("6x18x1", plain=True)),
        dict(polygons=T("6x8", dtype="int64")),
    ),
    refused(
        "PointsInPolygonsMmcv",
        dict(points=T("40x2", plain=True), polygons=T("6x8", plain=True)),
        dict(points=T("40x2x1", plain=True)),
        dict(points=T("41x2", plain=True)),
        dict(polygons=T("6x8x1", plain=True)),
    ),
    refused(
        "PointsInBoxesPartMmcv",
        dict(
            box_idx_of_points=T("2x20", values=[-1]),
            boxes=T("2x5x7", plain=True),
            pts=T("2x20x3", plain=True),
        ),
        dict(box_idx_of_points=T("2x20x1", values=[-1])),
        dict(boxes=T("2x5x7x1", plain=True)),
        dict(boxes=T("3x5x7", plain=True)),
    ),
    refused(
        "PointsInBoxesAllMmcv",
        dict(
            box_idx_of_points=T("2x20x5", values=[0]),
            boxes=T("2x5x7", plain=True),
            pts=T("2x20x3", plain=True),
        ),
        dict(box_idx_of_points=T("2x20x5x1", values=[0])),
    ),
]
