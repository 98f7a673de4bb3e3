"""Padding."""

from dl_conformance.vocabulary import T, calls, refused

CASES = [
    calls(
        "Pad",
        dict(input="3x5", pad=[1, 2], mode="constant", value=1.0),
        dict(input="2x3x4", pad=[1, 1, 0, 2], mode="constant", value=None),
        dict(input="3x5", pad=[-1, 2], mode="constant", value=0.0),
        edges="extreme",
    ),
    *(
        calls(
            "Pad",
            dict(input="1x2x4x5", pad=[1, 2, 2, 1], mode=m, value=None),
            dict(input="2x3x6", pad=[2, 3], mode=m, value=None),
            edges="extreme",
        )
        for m in ("reflect", "replicate", "circular")
    ),
    refused(
        "Pad",
        dict(input="3x5", pad=[1, 2], mode="constant", value=1.0),
        dict(input="3x5x1"),
        dict(input="3x6"),
        dict(input=T("3x5", low=0, high=1, dtype="int64")),
    ),
]
