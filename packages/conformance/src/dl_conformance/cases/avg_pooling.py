"""Average pooling and its gradients."""

from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset", "channels-last")
PLAIN = dict(ceil_mode=False, count_include_pad=True, divisor_override=None)
PLANES = [
    dict(
        input="2x3x7x6",
        kernel_size=[2, 2],
        stride=[2, 2],
        padding=[0, 0],
        grad_output="2x3x3x3",
        **PLAIN,
    ),
    dict(
        input="1x2x7x6",
        kernel_size=[3, 2],
        stride=[1, 2],
        padding=[1, 1],
        grad_output="1x2x7x4",
        **PLAIN,
    ),
    dict(
        input="1x2x7x6",
        kernel_size=[3, 3],
        stride=[2, 2],
        padding=[1, 1],
        grad_output="1x2x4x4",
        ceil_mode=True,
        count_include_pad=False,
        divisor_override=None,
    ),
    dict(
        input="1x2x7x6",
        kernel_size=[3, 3],
        stride=[2, 2],
        padding=[1, 1],
        grad_output="1x2x4x4",
        ceil_mode=True,
        count_include_pad=True,
        divisor_override=None,
    ),
    dict(
        input="1x2x7x6",
        kernel_size=[2, 2],
        stride=None,
        padding=[0, 0],
        grad_output="1x2x3x3",
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=3,
    ),
]
VOLUMES = [
    dict(
        input="1x2x5x4x6",
        kernel_size=[2, 2, 3],
        stride=[2, 1, 2],
        padding=[0, 1, 1],
        grad_output="1x2x2x5x3",
        **PLAIN,
    ),
]

LINES = [
    dict(input="2x3x9", kernel_size=[k], stride=s, padding=[p], grad_output=g, **mode)
    for k, s, p, g, mode in (
        (2, [2], 0, "2x3x4", dict(ceil_mode=False, count_include_pad=True)),
        (3, [2], 1, "2x3x5", dict(ceil_mode=False, count_include_pad=False)),
        (4, None, 1, "2x3x3", dict(ceil_mode=True, count_include_pad=True)),
        (3, None, 1, "2x3x3", dict(ceil_mode=False, count_include_pad=True)),
        (3, [2], 1, "2x3x5", dict(ceil_mode=True, count_include_pad=False)),
    )
]


def forward(each):
    return [{k: v for k, v in x.items() if k != "grad_output"} for x in each]


CASES = [
    calls("AvgPool2d", *forward(PLANES), layouts=LAYOUTS),
    calls("AvgPool2dBackward", *PLANES, layouts=LAYOUTS),
    calls("AvgPool3d", *forward(VOLUMES), layouts=LAYOUTS),
    calls("AvgPool3dBackward", *VOLUMES, layouts=LAYOUTS),
    calls(
        "AdaptiveAvgPool2d",
        *(dict(input="2x3x7x6", output_size=x) for x in ([3, 2], [1, 1], [7, 6])),
        layouts=LAYOUTS,
    ),
    calls(
        "AdaptiveAvgPool2dBackward",
        *(dict(input="2x3x7x6", grad_output=f"2x3x{x}") for x in ("3x2", "1x1", "7x6")),
        layouts=LAYOUTS,
    ),
    calls("AdaptiveAvgPool3d", dict(input="1x2x5x4x6", output_size=[2, 3, 4]), layouts=LAYOUTS),
    calls(
        "AdaptiveAvgPool3dBackward",
        dict(input="1x2x5x4x6", grad_output="1x2x2x3x4"),
        layouts=LAYOUTS,
    ),
    calls("AvgPool1d", *forward(LINES), layouts=LAYOUTS[:3]),
    calls("AvgPool1dBackward", *LINES, layouts=LAYOUTS[:3]),
    calls(
        "AdaptiveAvgPool1d",
        *(dict(input="2x3x9", output_size=[x]) for x in (4, 1, 9, 15)),
        layouts=LAYOUTS[:3],
    ),
    calls(
        "AdaptiveAvgPool1dBackward",
        *(dict(input="2x3x9", grad_output=f"2x3x{x}") for x in (4, 1, 9, 15)),
        layouts=LAYOUTS[:3],
    ),
    refused(
        "AvgPool2d",
        dict(
            input="2x3x7x6",
            kernel_size=[2, 2],
            stride=[2, 2],
            padding=[0, 0],
            ceil_mode=False,
            count_include_pad=True,
            divisor_override=None,
        ),
        dict(input="2x3x7x6x1"),
        dict(input="3x3x7x6"),
        dict(kernel_size=[2, 2, 1]),
        dict(kernel_size=[2, -1]),
        dict(stride=[2, 3]),
        dict(input=T("2x3x7x6", low=0, high=1, dtype="int64")),
    ),
    refused(
        "AvgPool2dBackward",
        dict(
            input="2x3x7x6",
            kernel_size=[2, 2],
            stride=[2, 2],
            padding=[0, 0],
            grad_output="2x3x3x3",
            ceil_mode=False,
            count_include_pad=True,
            divisor_override=None,
        ),
        dict(grad_input="2x3x7x6x1"),
    ),
    refused(
        "AvgPool3d",
        dict(
            input="1x2x5x4x6",
            kernel_size=[2, 2, 3],
            stride=[2, 1, 2],
            padding=[0, 1, 1],
            ceil_mode=False,
            count_include_pad=True,
            divisor_override=None,
        ),
        dict(input="1x2x5x4x6x1"),
    ),
    refused(
        "AvgPool3dBackward",
        dict(
            input="1x2x5x4x6",
            kernel_size=[2, 2, 3],
            stride=[2, 1, 2],
            padding=[0, 1, 1],
            grad_output="1x2x2x5x3",
            ceil_mode=False,
            count_include_pad=True,
            divisor_override=None,
        ),
        dict(grad_input="1x2x5x4x6x1"),
    ),
    refused(
        "AdaptiveAvgPool2d",
        dict(input="2x3x7x6", output_size=[3, 2]),
        dict(input="2x3x7x6x1"),
    ),
    refused(
        "AdaptiveAvgPool2dBackward",
        dict(input="2x3x7x6", grad_output="2x3x3x2"),
        dict(grad_input="2x3x7x6x1"),
    ),
    refused(
        "AdaptiveAvgPool3d",
        dict(input="1x2x5x4x6", output_size=[2, 3, 4]),
        dict(input="1x2x5x4x6x1"),
    ),
    refused(
        "AdaptiveAvgPool3dBackward",
        dict(input="1x2x5x4x6", grad_output="1x2x2x3x4"),
        dict(grad_input="1x2x5x4x6x1"),
    ),
    refused(
        "AvgPool1d",
        dict(
            input="2x3x9",
            kernel_size=[2],
            stride=[2],
            padding=[0],
            ceil_mode=False,
            count_include_pad=True,
        ),
        dict(input="2x3x9x1"),
    ),
    refused(
        "AvgPool1dBackward",
        dict(
            input="2x3x9",
            kernel_size=[2],
            stride=[2],
            padding=[0],
            grad_output="2x3x4",
            ceil_mode=False,
            count_include_pad=True,
        ),
        dict(grad_input="2x3x9x1"),
    ),
    refused(
        "AdaptiveAvgPool1d",
        dict(input="2x3x9", output_size=[4]),
        dict(input="2x3x9x1"),
    ),
    refused(
        "AdaptiveAvgPool1dBackward",
        dict(input="2x3x9", grad_output="2x3x4"),
        dict(grad_input="2x3x9x1"),
    ),
]
