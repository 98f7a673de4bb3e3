"""Smooth activations."""

from dl_conformance.vocabulary import T, calls

SHAPES = ("3x41", "5", "-", "0x3", "2x3x4x5")
RESULT = dict(low=-0.9, high=0.9)


def backward(name="input", **parameters):
    return [{"grad_output": x, name: x, **parameters} for x in SHAPES]


def forward(**parameters):
    return [dict(input=x, **parameters) for x in SHAPES]


CASES = [
    calls(
        "Tanh TanhInp Sigmoid SigmoidInp Silu SiluInp dlopMish dlopLogSigmoid",
        *forward(),
        edges="special",
    ),
    *(calls("Gelu", *forward(approximate=x)) for x in ("none", "tanh")),
    *(calls("GeluBackward", *backward(approximate=x)) for x in ("none", "tanh")),
    calls(
        "TanhBackward SigmoidBackward",
        *(dict(grad_output=x, output=T(x, **RESULT)) for x in SHAPES),
    ),
    calls("SiluBackward dlopMishBackward", *backward()),
    calls("dlopElu", *forward(alpha=1.5, scale=1.25, input_scale=0.75)),
    calls(
        "dlopEluBackward",
        *backward("self_or_result", alpha=1.5, scale=1.25, input_scale=0.75, is_result=False),
    ),
    calls(
        "dlopEluBackward",
        *backward("self_or_result", alpha=4.0, scale=1.0, input_scale=1.0, is_result=True),
    ),
    calls("dlopSoftplus", *forward(beta=2.0, threshold=3.0)),
    calls("dlopSoftplusBackward", *backward(beta=2.0, threshold=3.0)),
    calls(
        "dlopLogSigmoidBackward",
        *(dict(grad_output=x, input=x, buffer=T(x, low=0.1, high=1)) for x in SHAPES),
    ),
]
