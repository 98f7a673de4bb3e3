"""Smooth activations."""

from dl_conformance.vocabulary import T, calls, refused

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
    refused(
        "Tanh",
        dict(input="3x41"),
        dict(input="3x41x1"),
        dict(input="3"),
        dict(out=T("3x41", dtype="int64")),
    ),
    refused(
        "Sigmoid Silu dlopMish",
        dict(input="3x41"),
        dict(input="3x41x1"),
    ),
    refused(
        "dlopLogSigmoid",
        dict(input="3x41"),
        dict(buffer="3x41x1"),
    ),
    refused(
        "Gelu",
        dict(input="3x41", approximate="none"),
        dict(input="3x41x1"),
    ),
    refused(
        "GeluBackward",
        dict(grad_output="3x41", input="3x41", approximate="none"),
        dict(grad_input="3x41x1"),
    ),
    refused(
        "TanhBackward SigmoidBackward",
        dict(grad_output="3x41", output=T("3x41", low=-0.9, high=0.9)),
        dict(grad_input="3x41x1"),
    ),
    refused(
        "SiluBackward dlopMishBackward",
        dict(grad_output="3x41", input="3x41"),
        dict(grad_input="3x41x1"),
    ),
    refused(
        "dlopElu",
        dict(input="3x41", alpha=1.5, scale=1.25, input_scale=0.75),
        dict(input="3x41x1"),
    ),
    refused(
        "dlopEluBackward",
        dict(
            grad_output="3x41",
            self_or_result="3x41",
            alpha=1.5,
            scale=1.25,
            input_scale=0.75,
            is_result=False,
        ),
        dict(grad_input="3x41x1"),
    ),
]
