"""Images sampled at the positions of a grid."""

from dl_conformance.vocabulary import T, calls

CASES = [
    calls(
        "GridSample",
        *(
            dict(input=x, grid=T(g, low=-1.4, high=1.4), mode=m)
            for m in ("bilinear", "nearest", "bicubic")
            for x, g in (("2x3x4x5", "2x3x6x2"), ("1x1x1x1", "1x2x2x2"), ("1x2x7x9", "1x1x9x2"))
        ),
    ),
]
