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
]
