"""Permutations of the same elements."""

from dl_conformance.vocabulary import T, calls, refused

CASES = [
    calls(
        "Repeat",
        dict(input="3x5", repeats_size=[2, 3]),
        dict(input="3", repeats_size=[2, 1, 2]),
        dict(input="-", repeats_size=[4]),
        edges="extreme",
    ),
    calls(
        "Permute",
        dict(input="3x5x2", dims=[2, 0, 1]),
        dict(input="2x3x4x5", dims=[0, 3, 1, 2]),
        dict(input="0x3", dims=[1, 0]),
        edges="extreme",
    ),
    calls(
        "Transpose",
        dict(input="3x5x2", dim0=0, dim1=-1),
        dict(input="3x41", dim0=1, dim1=0),
        edges="extreme",
    ),
    calls(
        "Flip", dict(input="3x5x2", dims=[1]), dict(input="3x5x2", dims=[0, -1]), edges="extreme"
    ),
    calls(
        "Roll",
        dict(input="3x5x2", shifts=[2], dims=[1]),
        dict(input="3x41", shifts=[-1, 5], dims=[0, 1]),
        dict(input="3x5", shifts=[4], dims=None),
        edges="extreme",
    ),
    refused(
        "Repeat",
        dict(input="3x5", repeats_size=[2, 3]),
        dict(input="3x5x1"),
        dict(input="3"),
        dict(input=T("3x5", low=0, high=1, dtype="int64")),
    ),
    refused(
        "Permute",
        dict(input="3x5x2", dims=[2, 0, 1]),
        dict(input="3x5x2x1"),
        dict(input="3x5x3"),
        dict(dims=[2, 0, 0]),
        dict(dims=[2, 0, 99]),
    ),
    refused(
        "Transpose",
        dict(input="3x5x2", dim0=0, dim1=-1),
        dict(input="3x5x2x1"),
    ),
    refused(
        "Flip",
        dict(input="3x5x2", dims=[1]),
        dict(input="3x5x2x1"),
    ),
    refused(
        "Roll",
        dict(input="3x5x2", shifts=[2], dims=[1]),
        dict(shifts=[2, 1]),
    ),
]
