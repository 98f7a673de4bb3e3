"""Vector norms."""

from dl_conformance.vocabulary import calls

ORDERS = (2, 1, 0, 3, 2.5, float("inf"))

CASES = [
    calls(
        "Norm",
        *(dict(input="5x7x3", p=p, dim=[1]) for p in ORDERS),
        dict(input="5x7", p=2, dim=None),
    ),
    calls(
        "LinalgVecNorm",
        *(dict(input="5x7x3", ord=p, dim=[0, 2], keepdim=False) for p in ORDERS),
        dict(input="5x7", ord=2, dim=None, keepdim=False),
        dict(input="5x7", ord=2, dim=[1], keepdim=True),
    ),
]
