"""Connectionist temporal classification."""

from dataclasses import replace
from typing import Any

from dl_conformance.vocabulary import T, calls, refused


def batch(
    shape: str, labels: Any, steps: list[int], lengths: list[int], **others: Any
) -> dict[str, Any]:
    """Return log-probabilities [T, N, C] and labels, padded to a shape or concatenated in a list.

    :param steps: number of time steps of each sample.
    :param lengths: length of each sequence of labels.
    """
    classes = int(shape.rpartition("x")[2])
    targets = (
        T(f"{len(labels)}", values=labels, plain=True)
        if isinstance(labels, list)
        else T(labels, low=1, high=classes - 1, plain=True)
    )
    return dict(
        log_probs=T(shape, low=-4, high=-0.25),
        targets=targets,
        input_lengths=T(f"{len(steps)}", values=steps, plain=True),
        target_lengths=T(f"{len(lengths)}", values=lengths, plain=True),
        blank=0,
        **others,
    )


def gradient(call: dict[str, Any]) -> dict[str, Any]:
    samples = call["log_probs"].sizes[1]
    kept = {
        name: T(shape, result_of=f"diopiCTCLoss.{name}")
        for name, shape in (("neg_log_likelihood", f"{samples}"), ("log_alpha", f"{samples}x1x1"))
    }
    grad = f"{samples}" if call["reduction"] == "none" else "-"
    return dict(grad_output=grad, **call, **kept)


REDUCTIONS = ("none", "mean", "sum")
REPEATED = [1, 1, 2, 2, 2, 3, 1, 2]
SINGLE = [
    *(
        batch("8x3x5", "3x3", [8, 7, 8], [3, 2, 1], reduction=x, zero_infinity=False)
        for x in REDUCTIONS
    ),
    # Equal consecutive labels need a blank between them.
    *(
        batch("9x3x4", REPEATED, [9, 9, 7], [4, 1, 3], reduction=x, zero_infinity=False)
        for x in REDUCTIONS
    ),
    batch("6x2x5", "2x3", [6, 5], [3, 3], reduction="none", zero_infinity=False) | dict(blank=4),
    batch("6x2x5", "2x3", [6, 5], [0, 2], reduction="mean", zero_infinity=False),
    batch("1x1x2", "1x1", [1], [1], reduction="none", zero_infinity=False),
    batch("4x1x3", "1x0", [4], [0], reduction="mean", zero_infinity=False),
    # More labels than steps: there is no path, and the loss is infinite.
    *(
        batch("3x3x4", "3x4", [3, 3, 0], [2, 4, 2], reduction=r, zero_infinity=z)
        for r, z in (("none", False), ("none", True), ("sum", True), ("mean", True))
    ),
    batch("3x2x4", "2x2", [0, 3], [0, 1], reduction="sum", zero_infinity=False),
    batch("40x2x30", "2x15", [40, 33], [15, 11], reduction="mean", zero_infinity=True),
    batch("3x0x4", "0x2", [], [], reduction="sum", zero_infinity=False),
    batch("3x0x4", "0x2", [], [], reduction="none", zero_infinity=False),
]

CASES = [
    calls(
        "CTCLoss",
        *SINGLE,
        # With capacity for more labels than present, as when the host knows only an upper bound.
        batch("6x2x5", "2x4", [6, 5], [2, 1], reduction="mean", zero_infinity=False)
        | dict(log_alpha=T("2x6x9")),
        batch("6x2x5", [1, 2, 3, 9, -7], [6, 5], [2, 1], reduction="sum", zero_infinity=False),
    ),
    calls("CTCLossBackward", *map(gradient, SINGLE)),
]
LENGTHS = ("targets", "input_lengths", "target_lengths")
for call in (SINGLE[0], SINGLE[3]):
    wide = call | {name: replace(call[name], dtype="int64") for name in LENGTHS}
    CASES += [calls("CTCLoss", wide), calls("CTCLossBackward", gradient(wide))]

CASES += [
    refused(
        "CTCLoss",
        dict(
            log_probs=T("8x3x5", low=-4, high=-0.25),
            targets=T("3x3", low=1, high=4, plain=True),
            input_lengths=T("3", values=[8, 7, 8], plain=True),
            target_lengths=T("3", values=[3, 2, 1], plain=True),
            blank=0,
            reduction="none",
            zero_infinity=False,
        ),
        dict(neg_log_likelihood="3x1"),
        dict(log_alpha="3x8x7x1"),
        dict(log_alpha="3x8x8"),
        dict(log_probs=T("8x3x5x1", low=-4, high=-0.25)),
        dict(targets=T("3x3x1", low=1, high=4, plain=True)),
        dict(input_lengths=T("-", values=[8, 7, 8], plain=True)),
        dict(blank=-1),
        dict(out="4"),
        dict(neg_log_likelihood=T("3", dtype="int64")),
        data=[
            # Fewer classes than the targets use, and fewer targets than their lengths specify.
            dict(log_probs=T("8x3x4", low=-4, high=-0.25)),
            dict(targets=T("3", low=1, high=4, plain=True)),
            dict(targets=T("3x2", low=1, high=4, plain=True)),
            dict(targets=T("3x3", values=[-9], plain=True)),
            dict(input_lengths=T("3", values=[-9], plain=True)),
            dict(target_lengths=T("3", values=[-9], plain=True)),
        ],
    ),
    refused(
        "CTCLossBackward",
        dict(
            grad_output="3",
            log_probs=T("8x3x5", low=-4, high=-0.25),
            targets=T("3x3", low=1, high=4, plain=True),
            input_lengths=T("3", values=[8, 7, 8], plain=True),
            target_lengths=T("3", values=[3, 2, 1], plain=True),
            blank=0,
            reduction="none",
            zero_infinity=False,
            neg_log_likelihood=T("3", result_of="diopiCTCLoss.neg_log_likelihood"),
            log_alpha=T("3x1x1", result_of="diopiCTCLoss.log_alpha"),
        ),
        dict(grad_output="4"),
        dict(grad_input="8x3x5x1"),
        data=[
            dict(targets=T("3x3", values=[-9], plain=True)),
            dict(input_lengths=T("3", values=[-9], plain=True)),
            dict(target_lengths=T("3", values=[-9], plain=True)),
        ],
    ),
]
