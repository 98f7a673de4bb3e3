"""Groups of channels shifted in time."""

from dl_conformance.vocabulary import T, calls

SHIFTS = [("2x3", [1, -2, 0, 5, -9, 3]), ("2x1", [0, -1]), ("2x6", [2**31 - 1, -(2**31), 4, -4])]

CASES = [
    calls(
        "TinShiftMmcv",
        *(dict(input="2x5x6x4", shift=T(s, values=v, plain=True)) for s, v in SHIFTS),
        edges="extreme",
    ),
    calls(
        "TinShiftBackwardMmcv",
        *(dict(grad_output="2x5x6x4", shift=T(s, values=v, plain=True)) for s, v in SHIFTS),
    ),
]
