"""Losses of regression."""

from dl_conformance.vocabulary import T, calls, refused

FORWARD = [dict(input="5x7", target="5x7", reduction=r) for r in ("mean", "sum", "none")]
FORWARD += [
    dict(input="5x7", target=T("5x7", low=-3, high=3, dtype=d), reduction="mean")
    for d in ("int64", "int16", "uint8")
]
FORWARD += [dict(input="5x7", target=T("5x7", dtype="bool"), reduction="sum")]
BACKWARD = [dict(x, grad_output="5x7" if x["reduction"] == "none" else "-") for x in FORWARD]

CASES = [
    calls("MSELoss", *FORWARD),
    calls("MSELossBackward", *BACKWARD),
    *(calls("SmoothL1Loss", *(dict(x, beta=b) for x in FORWARD)) for b in (1.0, 0.5)),
    *(calls("SmoothL1LossBackward", *(dict(x, beta=b) for x in BACKWARD)) for b in (1.0, 0.5)),
    refused(
        "MSELoss",
        dict(input="5x7", target="5x7", reduction="mean"),
        dict(input="5x7x1"),
        dict(input=T("5x7", low=0, high=1, dtype="int64")),
    ),
    refused(
        "MSELossBackward",
        dict(input="5x7", target="5x7", reduction="mean", grad_output="-"),
        dict(grad_input="5x7x1"),
        dict(grad_input="5"),
    ),
    refused(
        "SmoothL1Loss",
        dict(input="5x7", target="5x7", reduction="mean", beta=1.0),
        dict(beta=-1.0),
    ),
    refused(
        "SmoothL1LossBackward",
        dict(input="5x7", target="5x7", reduction="mean", grad_output="-", beta=1.0),
        dict(grad_input="5x7x1"),
    ),
]
