"""Images and volumes sampled at the positions of a grid."""

from dl_conformance.vocabulary import T, calls, refused

CASES = [
    calls(
        "GridSample",
        *(
            dict(input=x, grid=T(g, low=-1.4, high=1.4), mode=m)
            for m in ("bilinear", "nearest", "bicubic")
            for x, g in (("2x3x4x5", "2x3x6x2"), ("1x1x1x1", "1x2x2x2"), ("1x2x7x9", "1x1x9x2"))
        ),
        *(
            dict(input=x, grid=T(g, low=-1.4, high=1.4), mode=m)
            for m in ("bilinear", "nearest")
            for x, g in (
                ("2x3x4x5x6", "2x3x2x4x3"),
                ("1x1x1x1x1", "1x2x2x2x3"),
                ("1x2x3x7x2", "1x1x1x9x3"),
                ("0x2x3x4x5", "0x2x2x2x3"),
            )
        ),
    ),
    refused(
        "GridSample",
        dict(input="2x3x4x5", grid=T("2x3x6x2", low=-1.4, high=1.4), mode="bilinear"),
        dict(input="2x3x4x5x1"),
        dict(input="3x3x4x5"),
        dict(input="2x4x4x5"),
        dict(input=T("2x3x4x5", low=0, high=1, dtype="int64")),
    ),
    refused(
        "GridSample",
        dict(input="2x3x4x5x6", grid=T("2x3x2x4x3", low=-1.4, high=1.4), mode="bilinear"),
        dict(mode="bicubic"),
        dict(grid="2x3x2x4x2"),
        dict(grid="2x3x2x3"),
    ),
]
