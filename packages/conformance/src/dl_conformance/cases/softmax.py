"""Softmax, log-softmax and their gradients."""

from dl_conformance.vocabulary import T, calls, refused

SHAPES = [("5x7", 1), ("5x7", 0), ("3x5x4", -2), ("2x257", 1), ("0x3", 1), ("-", 0), ("2x3x4x5", 1)]
WIDE = dict(low=-8, high=8)
# Lines with NaN, with only minus infinity, with infinity, and with finite numbers.
NAN, INF = float("nan"), float("inf")
ENDS = [NAN, -INF, INF, -INF, 0.5, -INF, -1.0, 2.0, 0.0, -INF, 0.5, 1.0]
NOT_FINITE = [("3x4", 0), ("3x4", 1), ("3x4x1", 0), ("300x4", 0), ("3x300x4", 0)]

CASES = [
    calls("Softmax LogSoftmax", *(dict(input=T(s, **WIDE), dim=d) for s, d in SHAPES)),
    calls(
        "Softmax LogSoftmax",
        *(dict(input=T(s, values=ENDS, plain=True), dim=d) for s, d in NOT_FINITE),
        layouts=(),
    ),
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
                mask=T(m, dtype=k, low=0, high=1),
                scale=0.75,
                fixed_triu_mask=t,
            )
            for m in ("2x1x7x9", "2x3x7x9", "9")
            for k in ("bool", "uint8")
            for t in (False, True)
        ),
    ),
    refused(
        "Softmax",
        dict(input=T("5x7", low=-8, high=8), dim=1),
        dict(input=T("5x7x1", low=-8, high=8)),
        dict(input=T("5x8", low=-8, high=8)),
        dict(input=T("6x7", low=-8, high=8)),
        dict(dim=3),
        dict(input=T("5x7", low=0, high=1, dtype="int64")),
    ),
    refused(
        "LogSoftmax",
        dict(input=T("5x7", low=-8, high=8), dim=1),
        dict(input=T("5x7x1", low=-8, high=8)),
    ),
    refused(
        "SoftmaxBackward",
        dict(grad_output="5x7", output=T("5x7", low=0, high=0.5), dim=1),
        dict(grad_input="5x7x1"),
    ),
    refused(
        "LogSoftmaxBackward",
        dict(grad_output="5x7", output=T("5x7", low=-5, high=-0.1), dim=1),
        dict(grad_input="5x7x1"),
    ),
    refused(
        "ScaledMaskedSoftmax",
        dict(
            input="2x3x7x9",
            mask=T("2x1x7x9", low=0, high=1, dtype="bool"),
            scale=0.75,
            fixed_triu_mask=False,
        ),
        dict(input="2x3x7x9x1"),
        dict(input="2x3x7x10"),
        dict(mask=T("2x1x7x9x1", low=0, high=1, dtype="bool")),
    ),
    refused(
        "ScaledMaskedSoftmaxBackward",
        dict(
            grad_output="2x3x7x9",
            output=T("2x3x7x9", low=0, high=0.25),
            mask=T("2x1x7x9", dtype="bool"),
            scale=0.75,
            fixed_triu_mask=False,
        ),
        dict(grad_input="2x3x7x9x1"),
    ),
]
