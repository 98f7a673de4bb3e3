"""Max pooling, its indices, and its gradients."""

from math import prod

from dl_conformance.inputs import integers
from dl_conformance.vocabulary import T, calls
from dl_conformance.windows import some_positions

LAYOUTS = ("transposed", "strided", "offset", "channels-last")
LINES = ("transposed", "strided", "offset")


def halved(lead, spatial):
    """Return indices of a cell in each 2x2 window; adaptive windows contain these cells too."""
    two, none = (2,) * len(spatial), (0,) * len(spatial)
    values = some_positions("max pooling", lead, spatial, two, two, none)
    return T(values.shape, values=values, dtype="int64")


def colliding_indices(lead, spatial, outputs):
    """Return indices that several outputs share, mostly far from the windows of these outputs.

    Fractional pooling, with its random overlapping windows, produces such indices.
    """
    values = integers("max pooling met", prod(lead) * prod(outputs), 0, prod(spatial) // 4)
    return T((*lead, *outputs), values=values.reshape(*lead, *outputs), dtype="int64")


ONE = dict(dilation=[1, 1], ceil_mode=False)
PLANES = [
    dict(input="2x3x7x6", kernel_size=[2, 2], stride=[2, 2], padding=[0, 0], **ONE),
    dict(input="1x2x7x6", kernel_size=[3, 2], stride=[1, 2], padding=[1, 0], **ONE),
    dict(
        input="1x2x7x6",
        kernel_size=[2, 2],
        stride=[1, 1],
        padding=[1, 1],
        dilation=[2, 2],
        ceil_mode=False,
    ),
    dict(
        input="1x2x7x6",
        kernel_size=[2, 2],
        stride=[2, 2],
        padding=[0, 0],
        dilation=[1, 1],
        ceil_mode=True,
    ),
    dict(input="2x5x5", kernel_size=[2, 2], stride=None, padding=[0, 0], **ONE),
]
VOLUMES = [
    dict(
        input="2x2x5x4x6",
        kernel_size=[2, 2, 3],
        stride=[2, 1, 2],
        padding=[0, 1, 1],
        dilation=[1, 1, 1],
        ceil_mode=False,
    ),
    dict(
        input="1x2x5x5x5",
        kernel_size=[2, 2, 2],
        stride=None,
        padding=[0, 0, 0],
        dilation=[1, 1, 1],
        ceil_mode=True,
    ),
]
GRADIENT = dict(
    grad_output="2x3x3x3",
    input="2x3x7x6",
    indices=halved((2, 3), (7, 6)),
    kernel_size=[2, 2],
    stride=[2, 2],
    padding=[0, 0],
    **ONE,
)
VOLUME_GRADIENT = dict(
    grad_output="1x2x2x2x2",
    input="1x2x4x4x4",
    indices=halved((1, 2), (4, 4, 4)),
    kernel_size=[2, 2, 2],
    stride=[2, 2, 2],
    padding=[0, 0, 0],
    dilation=[1, 1, 1],
    ceil_mode=False,
)
LINE_GRADIENT = dict(
    grad_output="2x3x4",
    input="2x3x9",
    indices=halved((2, 3), (9,)),
    kernel_size=[2],
    stride=[2],
    padding=[0],
    dilation=[1],
    ceil_mode=False,
)
MET_GRADIENT = {
    **GRADIENT,
    "grad_output": "2x3x5x4",
    "indices": colliding_indices((2, 3), (7, 6), (5, 4)),
    "kernel_size": [3, 3],
    "stride": [1, 1],
}
MET_VOLUME_GRADIENT = {
    **VOLUME_GRADIENT,
    "grad_output": "1x2x3x3x3",
    "indices": colliding_indices((1, 2), (4, 4, 4), (3, 3, 3)),
    "stride": [1, 1, 1],
}

CASES = [
    calls("MaxPool2d MaxPool2dWithIndices", *PLANES, layouts=LAYOUTS),
    calls("MaxPool3d MaxPool3dWithIndices", *VOLUMES, layouts=LAYOUTS),
    calls(
        "AdaptiveMaxPool2d AdaptiveMaxPool2dWithIndices",
        *(dict(input="2x3x7x6", output_size=x) for x in ([3, 2], [1, 1], [7, 6])),
        layouts=LAYOUTS,
    ),
    calls(
        "AdaptiveMaxPool3d AdaptiveMaxPool3dWithIndices",
        dict(input="1x2x5x4x6", output_size=[2, 3, 4]),
        layouts=LAYOUTS,
    ),
    calls(
        "MaxPool2dBackward AdaptiveMaxPool2dBackward",
        GRADIENT,
        MET_GRADIENT,
        layouts=LAYOUTS,
    ),
    calls(
        "MaxPool2dBackward",
        {**GRADIENT, "input": T("2x3x7x6", apart=True), "indices": None},
        layouts=LAYOUTS,
    ),
    calls(
        "MaxPool3dBackward AdaptiveMaxPool3dBackward",
        VOLUME_GRADIENT,
        MET_VOLUME_GRADIENT,
        layouts=LAYOUTS,
    ),
    calls(
        "MaxPool1d MaxPool1dWithIndices",
        dict(
            input="2x3x9", kernel_size=[2], stride=[2], padding=[0], dilation=[1], ceil_mode=False
        ),
        dict(
            input="2x3x9", kernel_size=[3], stride=[2], padding=[1], dilation=[2], ceil_mode=False
        ),
        dict(
            input="2x3x8", kernel_size=[3], stride=None, padding=[0], dilation=[1], ceil_mode=True
        ),
        dict(input="3x9", kernel_size=[9], stride=[1], padding=[0], dilation=[1], ceil_mode=False),
        dict(
            input="2x3x11", kernel_size=[3], stride=None, padding=[1], dilation=[1], ceil_mode=False
        ),
        dict(input="3x11", kernel_size=[2], stride=[3], padding=[0], dilation=[2], ceil_mode=False),
        dict(
            input="2x3x11", kernel_size=[3], stride=[2], padding=[1], dilation=[1], ceil_mode=True
        ),
        layouts=LINES,
    ),
    calls(
        "AdaptiveMaxPool1d AdaptiveMaxPool1dWithIndices",
        *(dict(input="2x3x9", output_size=[x]) for x in (4, 1, 9, 15)),
        layouts=LINES,
    ),
    calls(
        "MaxPool1dBackward AdaptiveMaxPool1dBackward",
        LINE_GRADIENT,
        {
            **LINE_GRADIENT,
            "grad_output": "2x3x8",
            "indices": colliding_indices((2, 3), (9,), (8,)),
            "stride": [1],
        },
        layouts=LINES,
    ),
    calls(
        "AdaptiveMaxPool1dBackward",
        {
            **LINE_GRADIENT,
            "grad_output": "2x3x15",
            "indices": colliding_indices((2, 3), (9,), (15,)),
        },
        layouts=LINES,
    ),
]
