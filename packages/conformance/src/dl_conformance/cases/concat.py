"""Concatenation, stacking and splitting."""

from dl_conformance.vocabulary import T, calls, refused

CASES = [
    calls(
        "Cat",
        dict(tensors=["3x5", "2x5", "4x5"], dim=0),
        dict(tensors=["3x5", "3x1"], dim=-1),
        dict(tensors=["3x5", "0", "2x5"], dim=0),
        dict(tensors=["2x3x4"], dim=1),
        edges="extreme",
    ),
    calls(
        "Stack",
        dict(tensors=["3x5", "3x5"], dim=0),
        dict(tensors=["3x5", "3x5", "3x5"], dim=-1),
        dict(tensors=["-", "-"], dim=0),
        edges="extreme",
    ),
    calls(
        "SplitWithSizes",
        dict(input="5x7x3", splitSizes=[2, 4, 1], dim=1),
        dict(input="6", splitSizes=[6], dim=0),
        dict(input="4x5", splitSizes=[0, 3, 1], dim=-2),
        dict(input="0x3", splitSizes=[1, 2], dim=1),
        dict(input="4x5x6", splitSizes=[1, 5], dim=-1),
        edges="extreme",
    ),
    refused(
        "Cat",
        dict(tensors=["3x5", "2x5", "4x5"], dim=0),
        dict(tensors=["3x5", "2x5"]),
        dict(tensors=["3x5", "2x5", "4x5x1"]),
        dict(dim=3),
    ),
    refused(
        "Stack",
        dict(tensors=["3x5", "3x5"], dim=0),
        dict(tensors=["3x5"]),
        dict(tensors=["3x5", "3x5x1"]),
    ),
    refused(
        "SplitWithSizes",
        dict(input="5x7x3", splitSizes=[2, 4, 1], dim=1),
        dict(input="5x8x3"),
        dict(splitSizes=[2, 4, 2]),
        dict(outs=["5x2x3", "5x4x3"]),
        dict(outs=["5x2x3", "5x4x3", "5x1x3x1"]),
        dict(input=T("5x7x3", low=0, high=1, dtype="int64")),
    ),
    refused(
        "SplitWithSizes",
        dict(input="6", splitSizes=[6], dim=0),
        dict(input="-"),
    ),
]
