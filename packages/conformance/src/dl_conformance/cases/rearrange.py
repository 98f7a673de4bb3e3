"""Other orders of the same elements."""

from dl_conformance.vocabulary import calls

CASES = [
    calls(
        "Repeat",
        dict(input="3x5", repeats_size=[2, 3]),
        dict(input="3", repeats_size=[2, 1, 2]),
        dict(input="-", repeats_size=[4]),
    ),
    calls(
        "Permute",
        dict(input="3x5x2", dims=[2, 0, 1]),
        dict(input="2x3x4x5", dims=[0, 3, 1, 2]),
        dict(input="0x3", dims=[1, 0]),
    ),
    calls("Transpose", dict(input="3x5x2", dim0=0, dim1=-1), dict(input="3x41", dim0=1, dim1=0)),
    calls("Flip", dict(input="3x5x2", dims=[1]), dict(input="3x5x2", dims=[0, -1])),
    calls(
        "Roll",
        dict(input="3x5x2", shifts=[2], dims=[1]),
        dict(input="3x41", shifts=[-1, 5], dims=[0, 1]),
        dict(input="3x5", shifts=[4], dims=None),
    ),
]
