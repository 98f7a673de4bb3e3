"""Focal losses of logits and of probabilities, and their gradients."""

from dl_conformance.vocabulary import T, calls

LAYOUTS = ("transposed", "strided", "offset")
BINARY = [
    (dict(alpha=a, gamma=g, reduction=r), "5x7" if r == "none" else "-")
    for r in ("none", "mean", "sum")
    for a, g in ((0.25, 2.0), (-1.0, 1.5))
]
TARGET = T("5x7", values=[0, 1, 1, 0, 0, 1, 0])


def classes(values):
    return T("6", values=values, dtype="int64")


def weights():
    return (None, T("4", low=0.5, high=2))


CASES = [
    calls(
        "SigmoidFocalLoss",
        *(dict(inputs="5x7", targets=TARGET, **x) for x, _ in BINARY),
        layouts=LAYOUTS,
    ),
    calls(
        "SigmoidFocalLossBackward",
        *(dict(grad_output=g, input="5x7", target=TARGET, **x) for x, g in BINARY),
        layouts=LAYOUTS,
    ),
    calls(
        "SigmoidFocalLossMmcv SigmoidFocalLossBackwardMmcv",
        *(
            dict(input="6x4", target=classes([0, 3, -1, 4, 2, 1]), weight=w, gamma=1.5, alpha=0.25)
            for w in weights()
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "SoftmaxFocalLossMmcv SoftmaxFocalLossBackwardMmcv",
        *(
            dict(
                buff=T("6", values=[0]),
                softmax=T("6x4", low=0.0625, high=0.75),
                target=classes([0, 3, -1, 0, 2, 1]),
                weight=w,
                gamma=g,
                alpha=0.25,
            )
            for w in weights()
            for g in (2.0, 1.5)
        ),
        layouts=LAYOUTS,
    ),
]
