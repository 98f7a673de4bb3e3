"""Neighbors in point clouds, whose coordinates are multiples of 1/4: distances are exact."""

from math import prod

from dl_conformance.inputs import integers
from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset")


def cloud(shape, key="cloud"):
    count = prod(int(x) for x in shape.split("x"))
    return T(shape, values=(integers(f"{key} {shape}", count, -8, 8) / 4).tolist())


def distances(shape):
    return T(shape, values=[abs(x) for x in cloud(shape, "distances").values])


def places(shape, below):
    return T(shape, low=0, high=below - 1)


INTERPOLATED = dict(idx=places("2x7x3", 5), weight="2x7x3", b=2, c=3, m=5, n=7)
FAR = T("2x14", values=[10000.0])

CASES = [
    calls(
        "BallQueryMmcv",
        dict(
            idx=T("2x9x4", values=[0]),
            center_xyz=cloud("2x9x3"),
            xyz=cloud("2x30x3"),
            B=2,
            N=30,
            npoint=9,
            sample_num=4,
            min_radius=0.5,
            max_radius=2.0,
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "StackBallQueryMmcv",
        dict(
            idx=T("7x4", values=[0]),
            center_xyz=cloud("7x3"),
            center_xyz_batch_cnt=T("2", values=[2, 5]),
            xyz=cloud("20x3"),
            xyz_batch_cnt=T("2", values=[8, 12]),
            max_radius=1.5,
            sample_num=4,
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "ThreeNnMmcv",
        dict(unknown=cloud("2x9x3"), known=cloud("2x12x3"), b=2, n=9, m=12),
        layouts=LAYOUTS,
    ),
    calls(
        "KnnMmcv",
        *(
            dict(
                xyz_tensor=cloud("2x12x3"), new_xyz_tensor=cloud("2x9x3"), b=2, n=12, m=9, nsample=k
            )
            for k in (5, 1, 12)
        ),
        layouts=LAYOUTS,
    ),
    calls("ThreeInterpolateMmcv", dict(points="2x3x5", **INTERPOLATED), layouts=LAYOUTS),
    calls(
        "ThreeInterpolateBackwardMmcv",
        dict(grad_points="2x3x5", grad_out="2x3x7", **INTERPOLATED),
        layouts=LAYOUTS,
    ),
    calls(
        "FurthestPointSamplingMmcv",
        *(
            dict(temp_tensor=FAR, points_xyz=cloud("2x14x3"), B=2, N=14, num_points=n)
            for n in (6, 1, 14)
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "FurthestPointSamplingWithDistMmcv",
        *(
            dict(temp_tensor=FAR, points_dist=distances("2x14x14"), B=2, N=14, num_points=n)
            for n in (6, 1, 14)
        ),
        layouts=LAYOUTS,
    ),
    calls("ChamferDistanceMmcv", dict(xyz1=cloud("2x6x2"), xyz2=cloud("2x8x2")), layouts=LAYOUTS),
    calls(
        "ChamferDistanceBackwardMmcv",
        dict(
            grad_xyz1="2x6x2",
            grad_xyz2="2x8x2",
            xyz1="2x6x2",
            xyz2="2x8x2",
            idx1=places("2x6", 8),
            idx2=places("2x8", 6),
            grad_dist1="2x6",
            grad_dist2="2x8",
        ),
        layouts=LAYOUTS,
    ),
    refused(
        "BallQueryMmcv",
        dict(
            idx=T("2x9x4", values=[0]),
            center_xyz="2x9x3",
            xyz="2x30x3",
            B=2,
            N=30,
            npoint=9,
            sample_num=4,
            min_radius=0.5,
            max_radius=2.0,
        ),
        dict(idx=T("2x9x4x1", values=[0])),
        dict(center_xyz="2x9x3x1"),
        dict(xyz="2x30x3x1"),
        dict(idx=T("2x9x4", low=0, high=1, dtype="int64")),
    ),
    refused(
        "StackBallQueryMmcv",
        dict(
            idx=T("7x4", values=[0]),
            center_xyz="7x3",
            center_xyz_batch_cnt=T("2", values=[2, 5]),
            xyz="20x3",
            xyz_batch_cnt=T("2", values=[8, 12]),
            max_radius=1.5,
            sample_num=4,
        ),
        dict(center_xyz="7x3x1"),
        dict(center_xyz_batch_cnt=T("2x1", values=[2, 5])),
        dict(center_xyz_batch_cnt=T("3", values=[2, 5])),
        dict(xyz="20x3x1"),
    ),
    refused(
        "ThreeNnMmcv",
        dict(unknown="2x9x3", known="2x12x3", b=2, n=9, m=12),
        dict(dist2="2x9x3x1"),
        dict(idx="2x9x3x1"),
        dict(unknown="2x9x3x1"),
        dict(known="2x12x3x1"),
    ),
    refused(
        "KnnMmcv",
        dict(xyz_tensor="2x12x3", new_xyz_tensor="2x9x3", b=2, n=12, m=9, nsample=5),
        dict(nsample=-1),
        dict(idx_tensor="2x9x5x1"),
    ),
    refused(
        "ThreeInterpolateMmcv",
        dict(points="2x3x5", idx=T("2x7x3", low=0, high=4), weight="2x7x3", b=2, c=3, m=5, n=7),
        dict(weight="2x7x3x1"),
        dict(c=-1),
        dict(n=0),
        data=[dict(idx=T("2x7x3", values=[-9]))],
    ),
    refused(
        "ThreeInterpolateBackwardMmcv",
        dict(
            grad_points="2x3x5",
            grad_out="2x3x7",
            idx=T("2x7x3", low=0, high=4),
            weight="2x7x3",
            b=2,
            c=3,
            m=5,
            n=7,
        ),
        dict(grad_points="2x3x5x1"),
        data=[dict(idx=T("2x7x3", values=[-9]))],
    ),
    refused(
        "FurthestPointSamplingMmcv",
        dict(temp_tensor=T("2x14", values=[10000.0]), points_xyz="2x14x3", B=2, N=14, num_points=6),
        dict(temp_tensor=T("2x14x1", values=[10000.0])),
        dict(idx_tensor="2x6x1"),
    ),
    refused(
        "FurthestPointSamplingWithDistMmcv",
        dict(
            temp_tensor=T("2x14", values=[10000.0]), points_dist="2x14x14", B=2, N=14, num_points=6
        ),
        dict(temp_tensor=T("2x14x1", values=[10000.0])),
    ),
    refused(
        "ChamferDistanceMmcv",
        dict(xyz1="2x6x2", xyz2="2x8x2"),
        dict(dist1="2x6x1"),
        dict(idx1="2x6x1"),
        dict(xyz1="2x6x2x1"),
        dict(xyz1="3x6x2"),
    ),
    refused(
        "ChamferDistanceBackwardMmcv",
        dict(
            grad_xyz1="2x6x2",
            grad_xyz2="2x8x2",
            xyz1="2x6x2",
            xyz2="2x8x2",
            idx1=T("2x6", low=0, high=7),
            idx2=T("2x8", low=0, high=5),
            grad_dist1="2x6",
            grad_dist2="2x8",
        ),
        dict(grad_xyz1="2x6x2x1"),
        dict(grad_dist1="2x6x1"),
        data=[dict(idx1=T("2x6", values=[-9])), dict(idx2=T("2x8", values=[-9]))],
    ),
]
