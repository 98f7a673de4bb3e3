"""Convolutions over two and three dimensions, transposed ones, and their gradients."""

from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset", "channels-last")
ONE, TWO = [1, 1], [2, 2]
PLANES = [
    dict(
        input="2x3x7x6",
        weight="4x3x3x3",
        grad_output="2x4x7x6",
        stride=ONE,
        padding=ONE,
        dilation=ONE,
        groups=1,
    ),
    dict(
        input="2x4x9x8",
        weight="6x2x3x2",
        grad_output="2x6x4x4",
        stride=TWO,
        padding=[0, 0],
        dilation=ONE,
        groups=2,
    ),
    dict(
        input="1x4x9x8",
        weight="4x1x3x3",
        grad_output="1x4x7x6",
        stride=ONE,
        padding=ONE,
        dilation=TWO,
        groups=4,
    ),
    dict(
        input="2x3x5x5",
        weight="4x3x1x1",
        grad_output="2x4x5x5",
        stride=ONE,
        padding=[0, 0],
        dilation=ONE,
        groups=1,
    ),
]
THREE = [1, 1, 1]
VOLUMES = [
    dict(
        input="2x2x5x4x4",
        weight="3x2x3x2x3",
        grad_output="2x3x5x5x4",
        stride=THREE,
        padding=THREE,
        dilation=THREE,
        groups=1,
    ),
    dict(
        input="1x4x5x5x5",
        weight="4x2x2x2x2",
        grad_output="1x4x2x2x2",
        stride=[2, 2, 2],
        padding=[0, 0, 0],
        dilation=THREE,
        groups=2,
    ),
]


def bias(call):
    return call["weight"].split("x")[0]


def forward(each):
    return [dict({k: v for k, v in x.items() if k != "grad_output"}, bias=bias(x)) for x in each]


def backward(each):
    return [dict(x, bias_sizes=[int(bias(x))]) for x in each]


TRANSPOSED = [
    dict(
        input="2x4x4x5",
        weight="4x3x3x2",
        bias="3",
        stride=TWO,
        padding=ONE,
        output_padding=ONE,
        groups=1,
        dilation=ONE,
    ),
    dict(
        input="1x4x3x3",
        weight="4x2x2x2",
        bias=None,
        stride=ONE,
        padding=[0, 0],
        output_padding=[0, 0],
        groups=2,
        dilation=TWO,
    ),
]


def without_bias(call):
    return {name: value for name, value in call.items() if name != "bias"}


CASES = [
    calls("Convolution2d", *forward(PLANES), dict(forward(PLANES)[0], bias=None), layouts=LAYOUTS),
    calls("Convolution3d", *forward(VOLUMES), layouts=LAYOUTS),
    calls("Convolution2dBackward", *backward(PLANES), layouts=LAYOUTS),
    calls("Convolution2dBackward", dict(PLANES[0], bias_sizes=None, grad_bias=None), layouts=()),
    calls("Convolution3dBackward", *backward(VOLUMES), layouts=LAYOUTS),
    calls("ConvTranspose2d", *TRANSPOSED, layouts=LAYOUTS),
    calls(
        "ConvTranspose3d",
        dict(
            input="1x2x3x3x2",
            weight="2x3x2x2x2",
            bias="3",
            stride=[2, 1, 2],
            padding=[0, 1, 0],
            output_padding=[1, 0, 0],
            groups=1,
            dilation=THREE,
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "ConvTranspose2dBackward",
        *(
            dict(without_bias(x), grad_output=g, bias_sizes=b)
            for x, g, b in zip(TRANSPOSED, ("2x3x8x9", "1x4x5x5"), ([3], [4]), strict=True)
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "ConvTranspose3dBackward",
        dict(
            grad_output="1x3x6x2x4",
            input="1x2x3x3x2",
            weight="2x3x2x2x2",
            bias_sizes=[3],
            stride=[2, 1, 2],
            padding=[0, 1, 0],
            dilation=THREE,
            output_padding=[0, 0, 0],
            groups=1,
        ),
        layouts=LAYOUTS,
    ),
    refused(
        "Convolution2d",
        dict(
            input="2x3x7x6",
            weight="4x3x3x3",
            stride=[1, 1],
            padding=[1, 1],
            dilation=[1, 1],
            groups=1,
            bias="4",
        ),
        dict(input="2x3x7x6x1"),
        dict(input="2x3x7x7"),
        dict(input="3x3x7x6"),
        dict(input="2x4x7x6"),
        dict(weight="4x3x3x3x1"),
        dict(bias="5"),
        dict(stride=[1, 0]),
        dict(input=T("2x3x7x6", low=0, high=1, dtype="int64")),
    ),
    refused(
        "Convolution3d",
        dict(
            input="2x2x5x4x4",
            weight="3x2x3x2x3",
            stride=[1, 1, 1],
            padding=[1, 1, 1],
            dilation=[1, 1, 1],
            groups=1,
            bias="3",
        ),
        dict(input="2x2x5x4x4x1"),
    ),
    refused(
        "Convolution2dBackward",
        dict(
            input="2x3x7x6",
            weight="4x3x3x3",
            grad_output="2x4x7x6",
            stride=[1, 1],
            padding=[1, 1],
            dilation=[1, 1],
            groups=1,
            bias_sizes=[4],
        ),
        dict(grad_input="2x3x7"),
    ),
    refused(
        "Convolution3dBackward",
        dict(
            input="2x2x5x4x4",
            weight="3x2x3x2x3",
            grad_output="2x3x5x5x4",
            stride=[1, 1, 1],
            padding=[1, 1, 1],
            dilation=[1, 1, 1],
            groups=1,
            bias_sizes=[3],
        ),
        dict(grad_input="2x2x5x4"),
    ),
    refused(
        "ConvTranspose2d",
        dict(
            input="2x4x4x5",
            weight="4x3x3x2",
            bias="3",
            stride=[2, 2],
            padding=[1, 1],
            output_padding=[1, 1],
            groups=1,
            dilation=[1, 1],
        ),
        dict(bias="4"),
    ),
    refused(
        "ConvTranspose3d",
        dict(
            input="1x2x3x3x2",
            weight="2x3x2x2x2",
            bias="3",
            stride=[2, 1, 2],
            padding=[0, 1, 0],
            output_padding=[1, 0, 0],
            groups=1,
            dilation=[1, 1, 1],
        ),
        dict(input="1x2x3x3x2x1"),
    ),
    refused(
        "ConvTranspose2dBackward",
        dict(
            input="2x4x4x5",
            weight="4x3x3x2",
            stride=[2, 2],
            padding=[1, 1],
            output_padding=[1, 1],
            groups=1,
            dilation=[1, 1],
            grad_output="2x3x8x9",
            bias_sizes=[3],
        ),
        dict(grad_input="2x4x4"),
    ),
    refused(
        "ConvTranspose3dBackward",
        dict(
            grad_output="1x3x6x2x4",
            input="1x2x3x3x2",
            weight="2x3x2x2x2",
            bias_sizes=[3],
            stride=[2, 1, 2],
            padding=[0, 1, 0],
            dilation=[1, 1, 1],
            output_padding=[0, 0, 0],
            groups=1,
        ),
        dict(grad_input="1x2x3x3"),
    ),
]
