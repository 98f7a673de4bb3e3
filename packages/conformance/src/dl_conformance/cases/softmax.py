"""Softmax, log-softmax and their gradients."""

from dl_conformance.vocabulary import T, calls

SHAPES = [("5x7", 1), ("5x7", 0), ("3x5x4", -2), ("2x257", 1), ("0x3", 1), ("-", 0), ("2x3x4x5", 1)]
WIDE = dict(low=-8, high=8)

CASES = [
    calls("Softmax LogSoftmax", *(dict(input=T(s, **WIDE), dim=d) for s, d in SHAPES)),
    calls(
        "SoftmaxBackward",
        *(dict(grad_output=s, output=T(s, low=0, high=0.5), dim=d) for s, d in SHAPES),
    ),
    calls(
        "LogSoftmaxBackward",
        *(dict(grad_output=s, output=T(s, low=-5, high=-0.1), dim=d) for s, d in SHAPES),
    ),
    calls(
        "ScaledMaskedSoftmax",
        *(
            dict(input="2x3x7x9", mask=T(m, dtype=k, low=0, high=1), scale=0.75, fixed_triu_mask=t)
            for m in ("2x1x7x9", "2x3x7x9", "9")
            for k in ("bool", "uint8")
            for t in (False, True)
        ),
    ),
    calls(
        "ScaledMaskedSoftmaxBackward",
        *(
            dict(
                grad_output="2x3x7x9",
                output=T("2x3x7x9", low=0, high=0.25),
                mask=T(m, dtype="bool"),
                scale=0.75,
                fixed_triu_mask=t,
            )
            for m in ("2x1x7x9", "9")
            for t in (False, True)
        ),
    ),
]
