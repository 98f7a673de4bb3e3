"""Distances between rows, and their gradient."""

from dl_conformance.vocabulary import calls

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
]
