"""Features of points, gathered in groups, and their gradients."""

from dl_conformance.vocabulary import T, calls

LAYOUTS = ("transposed", "strided", "offset")


def places(shape, below):
    return T(shape, low=0, high=below - 1)


SIZES = dict(b=2, c=3, n=7, npoints=5)
STACKED = dict(
    features_batch_cnt_tensor=T("2", values=[4, 5]),
    idx_tensor=places("6x2", 4),
    idx_batch_cnt_tensor=T("2", values=[1, 5]),
    b=2,
    c=3,
    m=6,
    nsample=2,
)
SCORES = dict(
    points="2x5x2x3",
    centers="2x5x2x3",
    scores="2x4x3x2",
    knn_idx=places("2x4x3", 5),
    B=2,
    N=5,
    npoint=4,
    M=2,
    K=3,
    out_dim=3,
    aggregate=0,
)

CASES = [
    calls("GatherPointsMmcv", dict(points="2x3x7", idx=places("2x5", 7), **SIZES), layouts=LAYOUTS),
    calls(
        "GatherPointsBackwardMmcv",
        dict(grad_points="2x3x7", grad_out="2x3x5", idx=places("2x5", 7), **SIZES),
        dict(grad_points="2x3x7", grad_out="2x3x5", idx=T("2x5", values=[3]), **SIZES),
        layouts=LAYOUTS,
    ),
    calls(
        "GroupPointsMmcv",
        dict(points="2x3x7", idx=places("2x5x4", 7), nsample=4, **SIZES),
        layouts=LAYOUTS,
    ),
    calls(
        "GroupPointsBackwardMmcv",
        dict(grad_points="2x3x7", grad_out="2x3x5x4", idx=places("2x5x4", 7), nsample=4, **SIZES),
        layouts=LAYOUTS,
    ),
    calls("StackGroupPointsMmcv", dict(features_tensor="9x3", **STACKED), layouts=LAYOUTS),
    calls(
        "StackGroupPointsBackwardMmcv",
        dict(grad_features_tensor="9x3", grad_out_tensor="6x3x2", n=9, **STACKED),
        layouts=LAYOUTS,
    ),
    calls("AssignScoreWithkMmcv", dict(output="2x3x4x3", **SCORES), layouts=LAYOUTS),
    calls(
        "AssignScoreWithkBackwardMmcv",
        dict(
            grad_points="2x5x2x3",
            grad_centers="2x5x2x3",
            grad_scores="2x4x3x2",
            grad_out="2x3x4x3",
            **SCORES,
        ),
        layouts=LAYOUTS,
    ),
]
