"""Distances between rows, and their gradient."""

from dl_conformance.vocabulary import T, calls, refused

CASES = [
    calls(
        "Cdist",
        *(
            dict(input1="5x7", input2="3x7", p=p, compute_mode=None)
            for p in (2.0, 1.0, 0.0, 3.0, float("inf"))
        ),
        dict(input1="2x5x7", input2="3x7", p=2.0, compute_mode=None),
        layouts=("transposed", "strided", "offset"),
    ),
    calls(
        "CdistBackward",
        *(
            dict(
                grad_output="5x3",
                input1="5x7",
                input2="3x7",
                p=p,
                cdist=T("5x3", low=4, high=8),
            )
            for p in (2.0, 1.0, 0.0, 3.0)
        ),
        dict(
            grad_output="2x5x3",
            input1="2x5x7",
            input2="3x7",
            p=2.0,
            cdist=T("2x5x3", low=4, high=8),
        ),
        # Broadcast points: gradients are summed over batches, or separate for each batch.
        *(
            dict(
                grad_output="4x2x5x3",
                input1=x,
                input2="4x2x3x7",
                p=2.0,
                cdist=T("4x2x5x3", low=4, high=8),
                **given,
            )
            for x in ("5x7", "2x5x7", "4x1x5x7")
            for given in ({}, dict(grad_input=T("4x2x5x7")))
        ),
        dict(
            grad_output="2x3x1",
            input1="3x0",
            input2="2x1x0",
            p=0.0,
            cdist="2x3x1",
            grad_input=T("2x3x0"),
        ),
        dict(
            grad_output="5x3",
            input1=T("5x7", values=[0, 1, 2, 3, 0, -4, 1]),
            input2=T("3x7", values=[0]),
            p=float("inf"),
            cdist=T("5x3", values=[4]),
        ),
        layouts=("transposed", "strided", "offset"),
    ),
    refused(
        "Cdist",
        dict(input1="5x7", input2="3x7", p=2.0, compute_mode=None),
        dict(input1="5x7x1"),
        dict(input1="5x8"),
        dict(input1="6x7"),
        dict(p=-1.0),
        dict(input1=T("5x7", low=0, high=1, dtype="int64")),
    ),
    refused(
        "CdistBackward",
        dict(grad_output="5x3", input1="5x7", input2="3x7", p=2.0, cdist=T("5x3", low=4, high=8)),
        dict(grad_output="5x3x1"),
        dict(grad_input="5x7x1"),
        dict(grad_input="2x5x7"),
    ),
]
