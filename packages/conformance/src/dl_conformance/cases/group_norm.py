"""Group normalization."""

from dl_conformance.vocabulary import calls

CASES = [
    calls(
        "GroupNorm",
        dict(input="2x6x5x3", weight="6", bias="6", num_groups=3, eps=1e-3),
        dict(input="2x4x7", weight=None, bias=None, num_groups=2, eps=1e-3),
        dict(input="3x4x5", weight="4", bias="4", num_groups=1, eps=1e-3),
        dict(input="3x4x5", weight="4", bias="4", num_groups=4, eps=1e-3),
    ),
]
