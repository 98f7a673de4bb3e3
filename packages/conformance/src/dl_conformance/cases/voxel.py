"""Voxelization of point clouds, and pooling over the points in boxes."""

import numpy as np

from dl_conformance import boxes
from dl_conformance.inputs import integers, uniform
from dl_conformance.vocabulary import T, calls

LAYOUTS = ("transposed", "strided", "offset")
NAN, INF = float("nan"), float("inf")


def flat(rows):
    return [x for row in rows for x in row]


def exactly(shape, values):
    """Return a tensor with the same values in every dtype and layout."""
    return T(shape, values=values, plain=True)


# Grids of 4, 6 and 2 voxels, and of 7, 5 and 3 voxels with inexact sides.
HALVES = dict(
    voxel_size=exactly("3", [0.5, 0.25, 2]),
    coors_range=exactly("6", [-1, 0, -3, 1, 1.5, 1]),
    NDim=3,
)
TENTHS = dict(
    voxel_size=exactly("3", [0.3, 0.4, 0.7]),
    coors_range=exactly("6", [-1, -1, -1, 1.1, 1, 1.1]),
    NDim=3,
)
INSIDE = T("60x4", low=-1.2, high=1.6)
# Points on borders between voxels, and on borders of the grid, whose upper borders are outside.
ON_BORDERS = exactly("5x3", [-1, 0, -3, -0.5, 0.25, -1, 1, 0.75, 0, 0.5, 1.5, 0, 0, 1, 1])
NOT_FINITE = exactly("6x3", [NAN, 0, 0, 0, INF, 0, 0, 0, -INF, 1e30, 1, 0, 0.25, 1, 0, -1e30, 1, 0])
CLOUDS = [
    dict(points=INSIDE, **HALVES),
    dict(points=T("40x3", low=-1.2, high=1.3), **TENTHS),
    dict(points=ON_BORDERS, **HALVES),
    dict(points=NOT_FINITE, **HALVES),
    dict(points=T("1x5", low=0.1, high=0.4), **HALVES),
    dict(points=T("0x4"), **HALVES),
    dict(points=T("500x4", low=-1.2, high=1.6), **HALVES),
    # All points are outside.
    dict(points=T("7x3", low=2, high=3), **HALVES),
]


def slots(voxels, room, features, **others):
    """Return outputs with capacity for a number of voxels and points per voxel."""
    return dict(
        voxels=T((voxels, room, features)),
        coors=T((voxels, 3), values=[0]),
        num_points_per_voxel=T((voxels,), values=[0]),
        voxel_num=T("1", values=[0]),
        max_points=room,
        max_voxels=voxels,
        **others,
    )


# Twelve points: some in four voxels, the rest outside of the grid.
ROW_OF = [2, 0, -1, 0, 3, 2, 2, -1, 0, 2, 3, 0]
FEATURES = np.round(uniform("features", 36, -2, 2), 1).astype(np.float32).reshape(12, 3)
LARGEST = [
    [
        max(FEATURES[i, c] for i in range(12) if ROW_OF[i] == m) if m in ROW_OF else 0
        for c in range(3)
    ]
    for m in range(4)
]
REDUCED = dict(
    grad_feats="12x3",
    grad_reduced_feats="4x3",
    coors_idx=T("12", values=ROW_OF),
    reduce_count=T("4", values=[4, 7, 4, 2]),
)
GIVEN = dict(feats=exactly("12x3", FEATURES.tolist()), reduced_feats=exactly("4x3", flat(LARGEST)))

POINTS = [[x + 0.1, y + 0.2, z] for z in (1.5, 3.25, 9.0) for x, y in boxes.grid(6, 6, 3.5)]
CLOUD = dict(
    rois=exactly("5x7", flat(boxes.rotated_3d(5, "voxels"))), pts=exactly("108x3", flat(POINTS))
)


def pooled(box_count, sides, most, channels):
    shape = "x".join(map(str, (box_count, *sides)))
    return dict(
        argmax=T(f"{shape}x{channels}", values=[0]),
        pts_idx_of_voxels=T(f"{shape}x{1 + most}", values=[0]),
        pooled_features=f"{shape}x{channels}",
    )


def lists(voxels, most, points):
    """Return the numbers of points per voxel, and the points."""
    rows = integers("lists", voxels * (1 + most), 0, points - 1).reshape(voxels, 1 + most)
    rows[:, 0] = np.arange(1, 1 + voxels) % (1 + most)
    return rows.ravel().tolist()


POOL_GRADS = [
    dict(
        grad_in=f"{points}x{channels}",
        pts_idx_of_voxels=T(f"{shape}x{1 + most}", values=lists(voxels, most, points)),
        argmax=T(f"{shape}x{channels}", low=-1 if points > 1 else 0, high=points - 1),
        grad_out=f"{shape}x{channels}",
    )
    for shape, voxels, points, channels, most in (
        ("2x2x3x2", 24, 9, 5, 4),
        ("1x1x1x1", 1, 1, 1, 1),
        ("3x4x2x2", 48, 7, 150, 6),
        ("2x2x1x2", 8, 4, 3, 0),
    )
]
NO_BOXES = dict(
    grad_in="4x3",
    pts_idx_of_voxels=T("0x2x2x2x4"),
    argmax=T("0x2x2x2x3"),
    grad_out="0x2x2x2x3",
)
GATHERED = dict(
    xyz=exactly("2x54x3", flat(POINTS)),
    boxes3d=exactly("2x5x7", [*flat(boxes.rotated_3d(9, "gathered")), 90, 90, 0, 5, 5, 5, 0.5]),
    pts_feature="2x54x4",
)


def gathered(samples, **others):
    flags = dict(pooled_empty_flag=T("2x5", values=[0]))
    return dict(pooled_features=f"2x5x{samples}x7", **flags, **{**GATHERED, **others})


CASES = [
    calls("DynamicVoxelizeMmcv", *CLOUDS, layouts=LAYOUTS),
    calls(
        "HardVoxelizeMmcv",
        slots(60, 5, 4, deterministic=True, **CLOUDS[0]),
        # More voxels and points than the capacity.
        slots(7, 2, 4, deterministic=True, **CLOUDS[0]),
        slots(40, 3, 3, deterministic=True, **CLOUDS[1]),
        slots(8, 1, 3, deterministic=True, **CLOUDS[2]),
        slots(8, 1, 3, deterministic=True, **CLOUDS[3]),
        slots(1, 1, 5, deterministic=True, **CLOUDS[4]),
        slots(3, 2, 4, deterministic=True, **CLOUDS[5]),
        slots(40, 20, 4, deterministic=True, **CLOUDS[6]),
        slots(3, 2, 3, deterministic=True, **CLOUDS[7]),
        *(slots(m, 3, 4, deterministic=False, **CLOUDS[0]) for m in (60, 5)),
        layouts=LAYOUTS,
    ),
    *(
        calls(
            "DynamicPointToVoxelMmcv",
            dict(feats="40x5", coors=T("40x3", low=-1, high=2, plain=True), reduce_type=kind),
            dict(feats="30x2", coors=T("30x3", low=0, high=100000), reduce_type=kind),
            dict(feats="600x3", coors=T("600x3", low=-1, high=1), reduce_type=kind),
            dict(feats="5x3", coors=T("5x3", values=[-1]), reduce_type=kind),
            dict(feats="1x1", coors=T("1x3", values=[4, 0, 2]), reduce_type=kind),
            dict(feats="4x0", coors=T("4x3", low=0, high=1), reduce_type=kind),
            dict(feats="0x3", coors=T("0x3"), reduce_type=kind),
            layouts=LAYOUTS,
            edges="extreme" if kind == 2 else "special",
        )
        for kind in (0, 1, 2)
    ),
    calls(
        "DynamicPointToVoxelBackwardMmcv",
        *(dict(reduce_type=kind, **REDUCED, **GIVEN) for kind in (0, 1, 2)),
        # The first of several points has the largest feature.
        dict(
            reduce_type=2,
            feats=T("12x3", values=[1, 2, 0.5]),
            reduced_feats=T("4x3", values=[2, 2, 2]),
            **REDUCED,
        ),
        *(
            dict(
                grad_feats="0x3",
                grad_reduced_feats="0x3",
                feats="0x3",
                reduced_feats="0x3",
                coors_idx=T("0"),
                reduce_count=T("0"),
                reduce_type=kind,
            )
            for kind in (0, 2)
        ),
        layouts=LAYOUTS,
    ),
    *(
        calls(
            "RoiawarePool3dMmcv",
            dict(pool_method=method, pts_feature="108x4", **pooled(5, (2, 3, 2), 3, 4), **CLOUD),
            dict(pool_method=method, pts_feature="108x1", **pooled(5, (1, 1, 1), 40, 1), **CLOUD),
            dict(pool_method=method, pts_feature="108x2", **pooled(5, (4, 4, 4), 1, 2), **CLOUD),
            dict(pool_method=method, pts_feature="108x2", **pooled(5, (2, 2, 1), 0, 2), **CLOUD),
            # Many features are equal.
            dict(
                pool_method=method,
                pts_feature=T("108x2", values=[1, 2, 2, 1, 0.5]),
                **pooled(5, (2, 1, 1), 20, 2),
                **CLOUD,
            ),
            dict(
                pool_method=method,
                pts_feature="0x2",
                **pooled(5, (2, 2, 1), 3, 2),
                **{**CLOUD, "pts": T("0x3")},
            ),
            dict(
                pool_method=method,
                pts_feature="108x2",
                **pooled(0, (2, 2, 1), 3, 2),
                **{**CLOUD, "rois": T("0x7")},
            ),
            layouts=LAYOUTS,
            edges="special",
        )
        for method in (0, 1)
    ),
    calls(
        "RoiawarePool3dBackwardMmcv",
        *(dict(pool_method=method, **x) for method in (1, 0) for x in [*POOL_GRADS, NO_BOXES]),
        layouts=LAYOUTS,
    ),
    calls(
        "RoipointPool3dMmcv",
        *(gathered(n) for n in (3, 1, 40, 0)),
        gathered(2, xyz=T("2x0x3"), pts_feature=T("2x0x4")),
        dict(
            pooled_features="2x5x3x3",
            pooled_empty_flag=T("2x5", values=[0]),
            **{**GATHERED, "pts_feature": T("2x54x0")},
        ),
        dict(
            pooled_features="2x0x3x7",
            pooled_empty_flag=T("2x0"),
            **{**GATHERED, "boxes3d": T("2x0x7")},
        ),
        layouts=LAYOUTS,
        edges="special",
    ),
]
