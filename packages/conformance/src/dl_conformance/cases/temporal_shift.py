"""Temporal shift of groups of channels."""

from dl_conformance.vocabulary import T, calls, refused

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
    refused(
        "TinShiftMmcv",
        dict(input="2x5x6x4", shift=T("2x3", values=[1, -2, 0, 5, -9, 3], plain=True)),
        dict(input="2x5x6x4x1"),
        dict(input="2x5x6x5"),
        dict(shift=T("2x3x1", values=[1, -2, 0, 5, -9, 3], plain=True)),
        dict(shift=T("2x4", values=[1, -2, 0, 5, -9, 3], plain=True)),
        dict(input=T("2x5x6x4", low=0, high=1, dtype="int64")),
    ),
    refused(
        "TinShiftBackwardMmcv",
        dict(grad_output="2x5x6x4", shift=T("2x3", values=[1, -2, 0, 5, -9, 3], plain=True)),
        dict(grad_input="2x5x6x4x1"),
    ),
]
