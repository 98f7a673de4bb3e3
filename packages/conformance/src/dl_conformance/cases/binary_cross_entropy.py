"""Binary cross entropy."""

from dl_conformance.vocabulary import T, calls, refused

REDUCTIONS = ("mean", "sum", "none")
PROBABILITY = T("5x7", low=0.05, high=0.95)
LOGITS = [
    dict(input="5x7", target=PROBABILITY, weight="7", pos_weight="7", reduction=r)
    for r in REDUCTIONS
]
LOGITS += [dict(input="5x7", target=PROBABILITY, weight=None, pos_weight=None, reduction="mean")]
# Integer and bool targets and weights.
LOGITS += [
    dict(
        input="5x7",
        target=T("5x7", dtype=t),
        weight=T("7", low=0, high=3, dtype=w),
        pos_weight=T("7", low=0, high=3, dtype="uint8"),
        reduction=r,
    )
    for t, w, r in (("bool", "int64", "none"), ("bool", "int16", "mean"))
]
CHANCES = [
    dict(input=PROBABILITY, target=PROBABILITY, weight="5x7", reduction=r) for r in REDUCTIONS
]
CHANCES += [dict(input=PROBABILITY, target=PROBABILITY, weight=None, reduction="sum")]
CHANCES += [
    dict(
        input=PROBABILITY,
        target=PROBABILITY,
        weight=T("5x7", low=-3, high=3, dtype=w),
        reduction=r,
    )
    for w, r in (("int64", "none"), ("int32", "mean"), ("int8", "sum"))
]


def backward(each):
    return [dict(x, grad_output="5x7" if x["reduction"] == "none" else "-") for x in each]


CASES = [
    calls("BCEWithLogits", *LOGITS),
    calls("BCEWithLogitsBackward", *backward(LOGITS)),
    calls("BCELoss", *CHANCES),
    calls("BCELossBackward", *backward(CHANCES)),
    refused(
        "BCEWithLogits",
        dict(
            input="5x7",
            target=T("5x7", low=0.05, high=0.95),
            weight="7",
            pos_weight="7",
            reduction="mean",
        ),
        dict(input="5x7x1"),
        dict(weight="7x1"),
        dict(input=T("5x7", low=0, high=1, dtype="int64")),
    ),
    refused(
        "BCEWithLogitsBackward",
        dict(
            input="5x7",
            target=T("5x7", low=0.05, high=0.95),
            weight="7",
            pos_weight="7",
            reduction="mean",
            grad_output="-",
        ),
        dict(grad_input="5"),
    ),
    refused(
        "BCELoss",
        dict(
            input=T("5x7", low=0.05, high=0.95),
            target=T("5x7", low=0.05, high=0.95),
            weight="5x7",
            reduction="mean",
        ),
        data=[
            dict(input=T("5x7", values=[-2.0])),
            dict(target=T("5x7", values=[1.5])),
        ],
    ),
    refused(
        "BCELossBackward",
        dict(
            input=T("5x7", low=0.05, high=0.95),
            target=T("5x7", low=0.05, high=0.95),
            weight="5x7",
            reduction="mean",
            grad_output="-",
        ),
        dict(grad_input="5x7x1"),
    ),
]
