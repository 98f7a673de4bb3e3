"""Calls that the operators of max_pooling must refuse."""

from dl_conformance.vocabulary import T, refused

CASES = [
    refused(
        "MaxPool2d",
        dict(
            input="2x3x7x6",
            kernel_size=[2, 2],
            stride=[2, 2],
            padding=[0, 0],
            dilation=[1, 1],
            ceil_mode=False,
        ),
        dict(input="2x3x7x6x1"),
        dict(input="3x3x7x6"),
        dict(kernel_size=[2, 2, 1]),
        dict(kernel_size=[2, -1]),
        dict(kernel_size=[2, 1 << 31]),
        dict(padding=[0, 2]),
        dict(stride=[2, 3]),
        dict(input=T("2x3x7x6", low=0, high=1, dtype="int64")),
    ),
    refused(
        "MaxPool2dWithIndices",
        dict(
            input="2x3x7x6",
            kernel_size=[2, 2],
            stride=[2, 2],
            padding=[0, 0],
            dilation=[1, 1],
            ceil_mode=False,
        ),
        dict(indices="2x3x3x3x1"),
    ),
    refused(
        "MaxPool3d",
        dict(
            input="2x2x5x4x6",
            kernel_size=[2, 2, 3],
            stride=[2, 1, 2],
            padding=[0, 1, 1],
            dilation=[1, 1, 1],
            ceil_mode=False,
        ),
        dict(input="2x2x5x4x6x1"),
    ),
    refused(
        "MaxPool3dWithIndices",
        dict(
            input="2x2x5x4x6",
            kernel_size=[2, 2, 3],
            stride=[2, 1, 2],
            padding=[0, 1, 1],
            dilation=[1, 1, 1],
            ceil_mode=False,
        ),
        dict(indices="2x2x2x5x3x1"),
    ),
    refused(
        "AdaptiveMaxPool2d",
        dict(input="2x3x7x6", output_size=[3, 2]),
        dict(input="2x3x7x6x1"),
    ),
    refused(
        "AdaptiveMaxPool2dWithIndices",
        dict(input="2x3x7x6", output_size=[3, 2]),
        dict(indices="2x3x3x2x1"),
    ),
    refused(
        "AdaptiveMaxPool3d",
        dict(input="1x2x5x4x6", output_size=[2, 3, 4]),
        dict(input="1x2x5x4x6x1"),
    ),
    refused(
        "AdaptiveMaxPool3dWithIndices",
        dict(input="1x2x5x4x6", output_size=[2, 3, 4]),
        dict(indices="1x2x2x3x4x1"),
    ),
    refused(
        "MaxPool2dBackward",
        dict(
            grad_output="2x3x3x3",
            input=T("2x3x7x6", apart=True),
            indices=None,
            kernel_size=[2, 2],
            stride=[2, 2],
            padding=[0, 0],
            dilation=[1, 1],
            ceil_mode=False,
        ),
        dict(padding=[0, 99]),
        dict(grad_input="2x3x7x6x1"),
        dict(indices="1"),
        data=[dict(indices=T("2x3x3x3", values=[-9], dtype="int64"))],
    ),
    refused(
        "AdaptiveMaxPool2dBackward",
        dict(
            grad_output="2x3x3x3",
            input="2x3x7x6",
            indices=T(
                "2x3x3x3",
                values=[
                    [
                        [[1, 8, 10], [18, 21, 22], [30, 32, 34]],
                        [[7, 9, 10], [13, 15, 17], [25, 32, 28]],
                        [[0, 9, 11], [18, 20, 23], [31, 33, 28]],
                    ],
                    [
                        [[7, 8, 11], [19, 15, 22], [25, 26, 34]],
                        [[0, 3, 11], [18, 15, 22], [25, 26, 35]],
                        [[0, 2, 4], [12, 20, 23], [24, 32, 28]],
                    ],
                ],
                dtype="int64",
            ),
        ),
        dict(grad_input="2x3x7x6x1"),
        data=[dict(indices=T("2x3x3x3", values=[-9], dtype="int64"))],
    ),
    refused(
        "MaxPool3dBackward",
        dict(
            grad_output="1x2x2x2x2",
            input="1x2x4x4x4",
            indices=T(
                "1x2x2x2x2",
                values=[
                    [
                        [[[21, 18], [8, 31]], [[48, 50], [40, 47]]],
                        [[[1, 6], [8, 27]], [[32, 34], [44, 42]]],
                    ]
                ],
                dtype="int64",
            ),
            kernel_size=[2, 2, 2],
            stride=[2, 2, 2],
            padding=[0, 0, 0],
            dilation=[1, 1, 1],
            ceil_mode=False,
        ),
        dict(grad_input="1x2x4x4x4x1"),
        data=[dict(indices=T("1x2x2x2x2", values=[-9], dtype="int64"))],
    ),
    refused(
        "AdaptiveMaxPool3dBackward",
        dict(
            grad_output="1x2x2x2x2",
            input="1x2x4x4x4",
            indices=T(
                "1x2x2x2x2",
                values=[
                    [
                        [[[21, 18], [8, 31]], [[48, 50], [40, 47]]],
                        [[[1, 6], [8, 27]], [[32, 34], [44, 42]]],
                    ]
                ],
                dtype="int64",
            ),
        ),
        dict(grad_input="1x2x4x4x4x1"),
        data=[dict(indices=T("1x2x2x2x2", values=[-9], dtype="int64"))],
    ),
    refused(
        "MaxPool1d",
        dict(
            input="2x3x9", kernel_size=[2], stride=[2], padding=[0], dilation=[1], ceil_mode=False
        ),
        dict(input="2x3x9x1"),
    ),
    refused(
        "MaxPool1dWithIndices",
        dict(
            input="2x3x9", kernel_size=[2], stride=[2], padding=[0], dilation=[1], ceil_mode=False
        ),
        dict(indices="2x3x4x1"),
    ),
    refused(
        "AdaptiveMaxPool1d",
        dict(input="2x3x9", output_size=[4]),
        dict(input="2x3x9x1"),
    ),
    refused(
        "AdaptiveMaxPool1dWithIndices",
        dict(input="2x3x9", output_size=[4]),
        dict(indices="2x3x4x1"),
    ),
]
