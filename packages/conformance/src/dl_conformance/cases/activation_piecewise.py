"""Piecewise activations."""

from dl_conformance.vocabulary import T, calls, refused

SHAPES = ("3x41", "5", "-", "0x3", "2x3x4x5")
WIDE = dict(low=-5, high=5)


def backward(**parameters):
    return [dict(grad_output=x, input=T(x, **WIDE), **parameters) for x in SHAPES]


def forward(**parameters):
    return [dict(input=T(x, **WIDE), **parameters) for x in SHAPES]


def fused(input, *, bias=None, refer=None, act=3, grad=0, alpha=0.2, scale=1.5):
    return dict(
        input=T(input), bias=bias, refer=refer, act=act, grad=grad, alpha=alpha, scale=scale
    )


CASES = [
    calls("Relu ReluInp", *forward(), edges="extreme"),
    calls("Hardswish HardswishInp dlopHardsigmoid", *forward(), edges="special"),
    calls("HardswishBackward dlopHardsigmoidBackward", *backward()),
    calls(
        "Hardtanh HardtanhInp",
        *forward(min_val=-1, max_val=2),
        edges="extreme",
        dtypes="float16 bfloat16 float32 float64 int8 int16 int32 int64",
    ),
    calls("HardtanhBackward", *backward(min_val=-1, max_val=2)),
    calls("Threshold ThresholdInp", *forward(threshold=1, value=2), edges="extreme"),
    calls("ThresholdBackward", *backward(threshold=1)),
    calls("LeakyRelu LeakyReluInp", *forward(negative_slope=0.25), edges="extreme"),
    calls("LeakyReluBackward", *backward(negative_slope=0.25, input_is_result=False)),
    calls("dlopHardshrink dlopSoftshrink", *forward(bound=0.5), edges="extreme"),
    calls("dlopShrinkBackward", *backward(bound=0.5)),
    calls(
        "FusedBiasLeakyreluMmcv",
        fused("3x4x5x2", bias="4"),
        fused("2x5", bias="5", alpha=-0.5),
        fused("2x3x41", bias="3", act=1),
        fused("3x4x5x2", refer="0", alpha=0, scale=-2),
        fused("3x4x5x2", bias="0", refer="3x4x5x2", grad=1),
        fused("3x4x5x2", bias="4", refer="3x4x5x2", grad=1),
        fused("2x3x4", bias="3", act=1, grad=1),
        fused("2x3x4", bias="3", refer="2x3x4", grad=2),
        fused("2x3x4", act=1, grad=2),
        fused("7"),
        fused("-"),
        fused("0x3", bias="3"),
        fused("2x0x3", bias="0"),
        fused("2x2x2x3x2", bias="2"),
        layouts=("transposed", "strided", "offset", "expanded", "channels-last"),
    ),
    calls(
        "FusedBiasLeakyreluMmcv",
        fused("3x41", bias="41", alpha=0.25, scale=1),
        edges="special",
        layouts=(),
    ),
    calls(
        "FusedBiasLeakyreluMmcv",
        fused("3x41", refer="3x41", grad=1, alpha=0.25, scale=1),
        edges="special",
        layouts=(),
    ),
    refused(
        "Relu",
        dict(input=T("3x41", low=-5, high=5)),
        dict(input=T("3x41x1", low=-5, high=5)),
        dict(input=T("3", low=-5, high=5)),
        dict(input=T("3x41", low=0, high=1, dtype="int64")),
    ),
    refused(
        "Hardswish dlopHardsigmoid",
        dict(input=T("3x41", low=-5, high=5)),
        dict(input=T("3x41x1", low=-5, high=5)),
    ),
    refused(
        "HardswishBackward dlopHardsigmoidBackward",
        dict(grad_output="3x41", input=T("3x41", low=-5, high=5)),
        dict(grad_input="3x41x1"),
    ),
    refused(
        "Hardtanh",
        dict(input=T("3x41", low=-5, high=5), min_val=-1, max_val=2),
        dict(input=T("3x41x1", low=-5, high=5)),
    ),
    refused(
        "HardtanhBackward",
        dict(grad_output="3x41", input=T("3x41", low=-5, high=5), min_val=-1, max_val=2),
        dict(grad_input="3x41x1"),
    ),
    refused(
        "Threshold",
        dict(input=T("3x41", low=-5, high=5), threshold=1, value=2),
        dict(input=T("3x41x1", low=-5, high=5)),
    ),
    refused(
        "ThresholdBackward",
        dict(grad_output="3x41", input=T("3x41", low=-5, high=5), threshold=1),
        dict(grad_input="3x41x1"),
    ),
    refused(
        "LeakyRelu",
        dict(input=T("3x41", low=-5, high=5), negative_slope=0.25),
        dict(input=T("3x41x1", low=-5, high=5)),
    ),
    refused(
        "LeakyReluBackward",
        dict(
            grad_output="3x41",
            input=T("3x41", low=-5, high=5),
            negative_slope=0.25,
            input_is_result=False,
        ),
        dict(grad_input="3x41x1"),
    ),
]
