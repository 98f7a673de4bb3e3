"""Convolution and pooling of sparse voxels by pairs of rows, and their gradients."""

import numpy as np

from dl_conformance.inputs import integers, uniform
from dl_conformance.vocabulary import T, calls, refused


def lists(cells, rows_in, rows_out, most, cells_first=True, key="pairs"):
    """Return random pairs; a kernel cell uses each row at most once, -1 marks unused entries."""
    pairs = np.full((cells, 2, most), -1)
    room = min(most, rows_in, rows_out)
    counts = integers(f"{key} counts", cells, 0, room)
    for k, count in enumerate(counts):
        for side, rows in enumerate((rows_in, rows_out)):
            order = np.argsort(uniform(f"{key} {k} {side}", rows, 0, 1), kind="stable")
            pairs[k, side, :count] = order[:count]
    pairs = pairs if cells_first else np.swapaxes(pairs, 0, 1)
    return pair_arguments(pairs, counts)


def pair_arguments(pairs, counts):
    pairs = np.asarray(pairs)
    return dict(
        indicePairs=T(pairs.shape, values=pairs, plain=True),
        indiceNum=T((len(counts),), values=list(map(int, counts)), plain=True),
    )


def submanifold(rows, cells, key="submanifold"):
    """Return pairs whose center cell has one pair for each row, which need not be read."""
    found = lists(cells, rows, rows, rows, key=key)
    pairs, counts = found["indicePairs"].values, list(found["indiceNum"].values)
    middle = cells // 2
    counts = [min(x, rows - 1) for x in counts]
    counts[middle] = rows
    pairs[middle] = -1
    return pair_arguments(pairs, counts)


# One cell maps two inputs to one output, and one input to two outputs.
MANY = pair_arguments([[[0, 1, 0, -1], [2, 2, 1, -1]], [[3, 3, -1, -1], [0, 1, -1, -1]]], [3, 2])
PLAIN = dict(_inverse=0, _subM=0)

# Rows of features, rows of the output, columns of both, spatial shape of the filters, and pairs.
SIZES = [
    (6, 5, 4, 3, (3, 3), lists(9, 6, 5, 6)),
    (6, 5, 4, 3, (3, 3), lists(9, 6, 5, 6, cells_first=False)),
    (4, 3, 2, 5, (2,), MANY),
    (5, 4, 1, 1, (1, 1, 1), lists(1, 5, 4, 4, key="one cell")),
    (5, 4, 3, 2, (2, 1), pair_arguments(np.full((2, 2, 5), -1), [0, 0])),
    (0, 0, 3, 2, (3,), pair_arguments(np.full((3, 2, 0), -1), [0, 0, 0])),
    (0, 4, 3, 2, (3,), pair_arguments(np.full((3, 2, 0), -1), [0, 0, 0])),
    (67, 41, 19, 33, (3, 3, 3), lists(27, 67, 41, 67, key="large")),
]


def convolution(sizes, **others):
    rows, rows_out, columns, columns_out, cells, pairs = sizes
    return dict(
        features=T((rows, columns)),
        filters=T((*cells, columns, columns_out)),
        bias=T((columns_out,)),
        outGrad=T((rows_out, columns_out)),
        numActOut=rows_out,
        **pairs,
        **{**PLAIN, **others},
    )


def transposed(sizes):
    """Return a transposed call: pairs map their second rows to the first."""
    rows, rows_out, *others = sizes
    return convolution((rows_out, rows, *others), _inverse=1)


CONVOLUTIONS = [
    *map(convolution, SIZES),
    *(transposed(SIZES[at]) for at in (0, 1, 2, 7)),
    convolution((6, 6, 4, 3, (3, 3), submanifold(6, 9)), _subM=1),
    convolution((6, 6, 4, 3, (3, 3), submanifold(6, 9)), _subM=1, _inverse=1),
    convolution((37, 37, 8, 16, (3, 3, 3), submanifold(37, 27)), _subM=1),
]


def only(each, *names):
    return [{k: v for k, v in x.items() if k in names} for x in each]


CONVOLUTION = ("features", "filters", "indicePairs", "indiceNum", "_inverse", "_subM")
POOLS = [
    dict(features=T((rows, columns)), numAct=rows_out, **pairs)
    for rows, rows_out, columns, _, _, pairs in SIZES
]


def pool_gradient(sizes, key):
    """Return max-pooled features that are multiples of 1/4, with many equal ones."""
    rows, rows_out, columns, _, _, pairs = sizes
    shape = (rows, columns)
    features = integers(f"{key} features", rows * columns, -6, 9).reshape(shape) / 4
    out = np.zeros((rows_out, columns))
    counts, by_cell = pairs["indiceNum"].values, pairs["indicePairs"].values
    if by_cell.shape[:2] != (len(counts), 2):
        by_cell = np.swapaxes(by_cell, 0, 1)
    for count, (source, target) in zip(counts, by_cell, strict=True):
        np.maximum.at(out, target[:count], features[source[:count]])
    return dict(
        features=T(shape, values=features, plain=True),
        outFeatures=T(out.shape, values=out, plain=True),
        outGrad=T(out.shape),
        **pairs,
    )


CASES = [
    calls("IndiceConvMmcv", *only(CONVOLUTIONS, *CONVOLUTION, "numActOut"), edges="special"),
    calls(
        "FusedIndiceConvBatchnormMmcv",
        *only(CONVOLUTIONS, *CONVOLUTION, "numActOut", "bias"),
    ),
    calls("IndiceConvBackwardMmcv", *only(CONVOLUTIONS, *CONVOLUTION, "outGrad")),
    calls("IndiceMaxpoolMmcv", *POOLS, edges="extreme"),
    calls(
        "IndiceMaxpoolBackwardMmcv",
        *(pool_gradient(x, f"pool gradient {at}") for at, x in enumerate(SIZES)),
    ),
    refused(
        "IndiceConvMmcv",
        dict(
            features="6x4",
            filters="3x3x4x3",
            numActOut=5,
            indicePairs=T(
                "9x2x6",
                values=[
                    [[2, 0, 5, -1, -1, -1], [3, 1, 0, -1, -1, -1]],
                    [[2, 3, -1, -1, -1, -1], [4, 1, -1, -1, -1, -1]],
                    [[3, 0, 5, -1, -1, -1], [1, 4, 2, -1, -1, -1]],
                    [[2, 5, 1, -1, -1, -1], [0, 3, 4, -1, -1, -1]],
                    [[3, -1, -1, -1, -1, -1], [2, -1, -1, -1, -1, -1]],
                    [[0, -1, -1, -1, -1, -1], [3, -1, -1, -1, -1, -1]],
                    [[2, -1, -1, -1, -1, -1], [0, -1, -1, -1, -1, -1]],
                    [[0, 4, -1, -1, -1, -1], [2, 4, -1, -1, -1, -1]],
                    [[0, 2, 1, 4, -1, -1], [4, 2, 3, 0, -1, -1]],
                ],
                plain=True,
            ),
            indiceNum=T("9", values=[3, 2, 3, 3, 1, 1, 1, 2, 4], plain=True),
            _inverse=0,
            _subM=0,
        ),
        dict(features="6x4x1"),
        dict(features="6x5"),
        dict(filters="4x3x4x3"),
        dict(indiceNum=T("9x1", values=[3, 2, 3, 3, 1, 1, 1, 2, 4], plain=True)),
        dict(indiceNum=T("10", values=[3, 2, 3, 3, 1, 1, 1, 2, 4], plain=True)),
        dict(numActOut=-1),
        dict(features=T("6x4", low=0, high=1, dtype="int64")),
        data=[
            dict(indicePairs=T("9x2x6", values=[-9], plain=True)),
            dict(indiceNum=T("9", values=[-9], plain=True)),
        ],
    ),
    refused(
        "FusedIndiceConvBatchnormMmcv",
        dict(
            features="6x4",
            filters="3x3x4x3",
            bias="3",
            numActOut=5,
            indicePairs=T(
                "9x2x6",
                values=[
                    [[2, 0, 5, -1, -1, -1], [3, 1, 0, -1, -1, -1]],
                    [[2, 3, -1, -1, -1, -1], [4, 1, -1, -1, -1, -1]],
                    [[3, 0, 5, -1, -1, -1], [1, 4, 2, -1, -1, -1]],
                    [[2, 5, 1, -1, -1, -1], [0, 3, 4, -1, -1, -1]],
                    [[3, -1, -1, -1, -1, -1], [2, -1, -1, -1, -1, -1]],
                    [[0, -1, -1, -1, -1, -1], [3, -1, -1, -1, -1, -1]],
                    [[2, -1, -1, -1, -1, -1], [0, -1, -1, -1, -1, -1]],
                    [[0, 4, -1, -1, -1, -1], [2, 4, -1, -1, -1, -1]],
                    [[0, 2, 1, 4, -1, -1], [4, 2, 3, 0, -1, -1]],
                ],
                plain=True,
            ),
            indiceNum=T("9", values=[3, 2, 3, 3, 1, 1, 1, 2, 4], plain=True),
            _inverse=0,
            _subM=0,
        ),
        dict(filters="3x3x4x4"),
        data=[
            dict(indicePairs=T("9x2x6", values=[-9], plain=True)),
            dict(indiceNum=T("9", values=[-9], plain=True)),
        ],
    ),
    refused(
        "IndiceConvBackwardMmcv",
        dict(
            features="6x4",
            filters="3x3x4x3",
            outGrad="5x3",
            indicePairs=T(
                "9x2x6",
                values=[
                    [[2, 0, 5, -1, -1, -1], [3, 1, 0, -1, -1, -1]],
                    [[2, 3, -1, -1, -1, -1], [4, 1, -1, -1, -1, -1]],
                    [[3, 0, 5, -1, -1, -1], [1, 4, 2, -1, -1, -1]],
                    [[2, 5, 1, -1, -1, -1], [0, 3, 4, -1, -1, -1]],
                    [[3, -1, -1, -1, -1, -1], [2, -1, -1, -1, -1, -1]],
                    [[0, -1, -1, -1, -1, -1], [3, -1, -1, -1, -1, -1]],
                    [[2, -1, -1, -1, -1, -1], [0, -1, -1, -1, -1, -1]],
                    [[0, 4, -1, -1, -1, -1], [2, 4, -1, -1, -1, -1]],
                    [[0, 2, 1, 4, -1, -1], [4, 2, 3, 0, -1, -1]],
                ],
                plain=True,
            ),
            indiceNum=T("9", values=[3, 2, 3, 3, 1, 1, 1, 2, 4], plain=True),
            _inverse=0,
            _subM=0,
        ),
        dict(filters="3x3x4x3x1"),
        data=[
            dict(indicePairs=T("9x2x6", values=[-9], plain=True)),
            dict(indiceNum=T("9", values=[-9], plain=True)),
        ],
    ),
    refused(
        "IndiceMaxpoolMmcv",
        dict(
            features="6x4",
            numAct=5,
            indicePairs=T(
                "9x2x6",
                values=[
                    [[2, 0, 5, -1, -1, -1], [3, 1, 0, -1, -1, -1]],
                    [[2, 3, -1, -1, -1, -1], [4, 1, -1, -1, -1, -1]],
                    [[3, 0, 5, -1, -1, -1], [1, 4, 2, -1, -1, -1]],
                    [[2, 5, 1, -1, -1, -1], [0, 3, 4, -1, -1, -1]],
                    [[3, -1, -1, -1, -1, -1], [2, -1, -1, -1, -1, -1]],
                    [[0, -1, -1, -1, -1, -1], [3, -1, -1, -1, -1, -1]],
                    [[2, -1, -1, -1, -1, -1], [0, -1, -1, -1, -1, -1]],
                    [[0, 4, -1, -1, -1, -1], [2, 4, -1, -1, -1, -1]],
                    [[0, 2, 1, 4, -1, -1], [4, 2, 3, 0, -1, -1]],
                ],
                plain=True,
            ),
            indiceNum=T("9", values=[3, 2, 3, 3, 1, 1, 1, 2, 4], plain=True),
        ),
        dict(numAct=-1),
        data=[
            dict(indicePairs=T("9x2x6", values=[-9], plain=True)),
            dict(indiceNum=T("9", values=[-9], plain=True)),
        ],
    ),
    refused(
        "IndiceMaxpoolBackwardMmcv",
        dict(
            features=T("6x4", plain=True),
            outFeatures=T("5x4", plain=True),
            outGrad="5x4",
            indicePairs=T(
                "9x2x6",
                values=[
                    [[2, 0, 5, -1, -1, -1], [3, 1, 0, -1, -1, -1]],
                    [[2, 3, -1, -1, -1, -1], [4, 1, -1, -1, -1, -1]],
                    [[3, 0, 5, -1, -1, -1], [1, 4, 2, -1, -1, -1]],
                    [[2, 5, 1, -1, -1, -1], [0, 3, 4, -1, -1, -1]],
                    [[3, -1, -1, -1, -1, -1], [2, -1, -1, -1, -1, -1]],
                    [[0, -1, -1, -1, -1, -1], [3, -1, -1, -1, -1, -1]],
                    [[2, -1, -1, -1, -1, -1], [0, -1, -1, -1, -1, -1]],
                    [[0, 4, -1, -1, -1, -1], [2, 4, -1, -1, -1, -1]],
                    [[0, 2, 1, 4, -1, -1], [4, 2, 3, 0, -1, -1]],
                ],
                plain=True,
            ),
            indiceNum=T("9", values=[3, 2, 3, 3, 1, 1, 1, 2, 4], plain=True),
        ),
        dict(features=T("6x5", plain=True)),
        dict(outFeatures=T("6x4", plain=True)),
        data=[
            dict(indicePairs=T("9x2x6", values=[-9], plain=True)),
            dict(indiceNum=T("9", values=[-9], plain=True)),
        ],
    ),
]
