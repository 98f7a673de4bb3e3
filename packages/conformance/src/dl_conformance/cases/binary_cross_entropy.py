"""Binary cross entropy."""

from dl_conformance.vocabulary import T, calls

REDUCTIONS = ("mean", "sum", "none")
PROBABILITY = T("5x7", low=0.05, high=0.95)
LOGITS = [
    dict(input="5x7", target=PROBABILITY, weight="7", pos_weight="7", reduction=r)
    for r in REDUCTIONS
]
LOGITS += [dict(input="5x7", target=PROBABILITY, weight=None, pos_weight=None, reduction="mean")]
CHANCES = [
    dict(input=PROBABILITY, target=PROBABILITY, weight="5x7", reduction=r) for r in REDUCTIONS
]
CHANCES += [dict(input=PROBABILITY, target=PROBABILITY, weight=None, reduction="sum")]


def backward(each):
    return [dict(x, grad_output="5x7" if x["reduction"] == "none" else "-") for x in each]


CASES = [
    calls("BCEWithLogits", *LOGITS),
    calls("BCEWithLogitsBackward", *backward(LOGITS)),
    calls("BCELoss", *CHANCES),
    calls("BCELossBackward", *backward(CHANCES)),
]
