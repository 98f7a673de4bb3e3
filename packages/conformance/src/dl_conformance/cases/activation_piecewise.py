"""Activations made of pieces."""

from dl_conformance.vocabulary import T, calls

SHAPES = ("3x41", "5", "-", "0x3", "2x3x4x5")
WIDE = dict(low=-5, high=5)


def backward(**parameters):
    return [dict(grad_output=x, input=T(x, **WIDE), **parameters) for x in SHAPES]


def forward(**parameters):
    return [dict(input=T(x, **WIDE), **parameters) for x in SHAPES]


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
]
