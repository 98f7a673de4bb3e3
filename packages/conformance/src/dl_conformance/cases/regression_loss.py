"""Losses of regression."""

from dl_conformance.vocabulary import calls

FORWARD = [dict(input="5x7", target="5x7", reduction=r) for r in ("mean", "sum", "none")]
BACKWARD = [dict(x, grad_output="5x7" if x["reduction"] == "none" else "-") for x in FORWARD]

CASES = [
    calls("MSELoss", *FORWARD),
    calls("MSELossBackward", *BACKWARD),
    *(calls("SmoothL1Loss", *(dict(x, beta=b) for x in FORWARD)) for b in (1.0, 0.5)),
    *(calls("SmoothL1LossBackward", *(dict(x, beta=b) for x in BACKWARD)) for b in (1.0, 0.5)),
]
