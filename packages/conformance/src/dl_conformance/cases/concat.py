"""Joined tensors."""

from dl_conformance.vocabulary import calls

CASES = [
    calls(
        "Cat",
        dict(tensors=["3x5", "2x5", "4x5"], dim=0),
        dict(tensors=["3x5", "3x1"], dim=-1),
        dict(tensors=["3x5", "0", "2x5"], dim=0),
        dict(tensors=["2x3x4"], dim=1),
    ),
    calls(
        "Stack",
        dict(tensors=["3x5", "3x5"], dim=0),
        dict(tensors=["3x5", "3x5", "3x5"], dim=-1),
        dict(tensors=["-", "-"], dim=0),
    ),
    calls(
        "SplitWithSizes",
        dict(input="5x7x3", splitSizes=[2, 4, 1], dim=1),
        dict(input="6", splitSizes=[6], dim=0),
        dict(input="4x5", splitSizes=[0, 3, 1], dim=-2),
        dict(input="0x3", splitSizes=[1, 2], dim=1),
    ),
]
