"""Negative log likelihood."""

from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset")
SHAPES = [("5x7", "5"), ("2x7x3", "2x3"), ("2x7x3x2", "2x3x2")]


def loss(shape, target, reduction, weight):
    classes = T(target, low=0, high=6, dtype="int64")
    weights = None if weight is None else T(weight, low=0.5, high=2)
    return dict(input=shape, target=classes, weight=weights, reduction=reduction, ignore_index=3)


FORWARD = [
    loss(s, t, r, w) for s, t in SHAPES for r in ("mean", "sum", "none") for w in ("7", None)
]
BACKWARD = [
    dict(
        x,
        grad_output=x["target"].shape if x["reduction"] == "none" else "-",
        totalWeight=T("-", low=2, high=9),
    )
    for x in FORWARD
]


def cross(shape, target, reduction, weight, smoothing, ignore_index=3):
    weights = None if weight is None else T(weight, low=0.5, high=2)
    return dict(
        input=shape,
        target=target,
        weight=weights,
        reduction=reduction,
        ignore_index=ignore_index,
        label_smoothing=smoothing,
    )


def losses(call):
    shape = call["input"].split("x")
    return "x".join([shape[0], *shape[2:]]) if len(shape) > 1 else "-"


CROSS = [
    cross(s, target, r, w, smooth)
    for s, t in (*SHAPES, ("7", "-"))
    for target in (T(t, low=0, high=6, dtype="int64"), T(s, low=0, high=1))
    for r, w, smooth in (
        ("mean", "7", 0.0),
        ("sum", None, 0.125),
        ("none", "7", 0.25),
        ("mean", "7", 0.125),
        ("none", None, 0.0),
    )
]

CASES = [
    calls("NLLLoss NLLLossV2", *FORWARD, layouts=LAYOUTS),
    calls("NLLLossBackward NLLLossV2Backward", *BACKWARD, layouts=LAYOUTS),
    calls("CrossEntropyLoss", *CROSS, layouts=LAYOUTS),
    calls(
        "CrossEntropyLossBackward",
        *(dict(x, grad_output=losses(x) if x["reduction"] == "none" else "-") for x in CROSS),
        layouts=LAYOUTS,
    ),
    refused(
        "NLLLoss",
        dict(
            input="5x7",
            target=T("5", low=0, high=6, dtype="int64"),
            weight=T("7", low=0.5, high=2),
            reduction="mean",
            ignore_index=3,
        ),
        dict(input="5"),
        dict(input="5x8"),
        dict(input="-"),
        dict(input=T("5x7", low=0, high=1, dtype="int64")),
        data=[dict(target=T("5", values=[-9], dtype="int64"))],
    ),
    refused(
        "NLLLossV2",
        dict(
            input="5x7",
            target=T("5", low=0, high=6, dtype="int64"),
            weight=T("7", low=0.5, high=2),
            reduction="mean",
            ignore_index=3,
        ),
        dict(input="5"),
        data=[dict(target=T("5", values=[-9], dtype="int64"))],
    ),
    refused(
        "NLLLossBackward NLLLossV2Backward",
        dict(
            input="5x7",
            target=T("5", low=0, high=6, dtype="int64"),
            weight=T("7", low=0.5, high=2),
            reduction="mean",
            ignore_index=3,
            grad_output="-",
            totalWeight=T("-", low=2, high=9),
        ),
        dict(grad_input="5"),
        data=[dict(target=T("5", values=[-9], dtype="int64"))],
    ),
    refused(
        "CrossEntropyLoss",
        dict(
            input="5x7",
            target=T("5", low=0, high=6, dtype="int64"),
            weight=T("7", low=0.5, high=2),
            reduction="mean",
            ignore_index=3,
            label_smoothing=0.0,
        ),
        dict(input="5x7x1"),
        data=[dict(target=T("5", values=[-9], dtype="int64"))],
    ),
    refused(
        "CrossEntropyLossBackward",
        dict(
            input="5x7",
            target=T("5", low=0, high=6, dtype="int64"),
            weight=T("7", low=0.5, high=2),
            reduction="mean",
            ignore_index=3,
            label_smoothing=0.0,
            grad_output="-",
        ),
        dict(grad_input="5x7x1"),
        data=[dict(target=T("5", values=[-9], dtype="int64"))],
    ),
]
