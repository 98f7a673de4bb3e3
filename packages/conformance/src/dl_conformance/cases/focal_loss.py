"""Focal losses of logits and of probabilities, and their gradients."""

from dl_conformance.vocabulary import T, calls, refused

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
    refused(
        "SigmoidFocalLoss",
        dict(
            inputs="5x7",
            targets=T("5x7", values=[0, 1, 1, 0, 0, 1, 0]),
            alpha=0.25,
            gamma=2.0,
            reduction="none",
        ),
        dict(inputs="5x7x1"),
        dict(out="5"),
        dict(inputs=T("5x7", low=0, high=1, dtype="int64")),
    ),
    refused(
        "SigmoidFocalLossBackward",
        dict(
            grad_output="5x7",
            input="5x7",
            target=T("5x7", values=[0, 1, 1, 0, 0, 1, 0]),
            alpha=0.25,
            gamma=2.0,
            reduction="none",
        ),
        dict(grad_output="5"),
        dict(input="5x7x1"),
    ),
    refused(
        "SigmoidFocalLossMmcv",
        dict(
            input="6x4",
            target=T("6", values=[0, 3, -1, 4, 2, 1], dtype="int64"),
            weight=None,
            gamma=1.5,
            alpha=0.25,
        ),
        dict(input="6x4x1"),
        dict(input="6x5"),
        dict(input="7x4"),
        dict(weight="1"),
    ),
    refused(
        "SigmoidFocalLossBackwardMmcv",
        dict(
            input="6x4",
            target=T("6", values=[0, 3, -1, 4, 2, 1], dtype="int64"),
            weight=None,
            gamma=1.5,
            alpha=0.25,
        ),
        dict(grad_input="6x4x1"),
    ),
    refused(
        "SoftmaxFocalLossMmcv",
        dict(
            buff=T("6", values=[0]),
            softmax=T("6x4", low=0.0625, high=0.75),
            target=T("6", values=[0, 3, -1, 0, 2, 1], dtype="int64"),
            weight=None,
            gamma=2.0,
            alpha=0.25,
        ),
        dict(output="6x1"),
        data=[
            dict(softmax=T("6x3", low=0.0625, high=0.75)),  # class 3 is out of range
            dict(target=T("6", values=[99], dtype="int64")),
        ],
    ),
    refused(
        "SoftmaxFocalLossBackwardMmcv",
        dict(
            buff=T("6", values=[0]),
            softmax=T("6x4", low=0.0625, high=0.75),
            target=T("6", values=[0, 3, -1, 0, 2, 1], dtype="int64"),
            weight=None,
            gamma=2.0,
            alpha=0.25,
        ),
        dict(buff=T("6x1", values=[0])),
        dict(grad_input="6x4x1"),
        data=[dict(target=T("6", values=[99], dtype="int64"))],
    ),
]
