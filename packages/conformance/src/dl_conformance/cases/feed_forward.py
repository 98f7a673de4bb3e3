"""Fused feed-forward layers."""

from dl_conformance.vocabulary import T, calls, refused


def layer(tokens, hidden, inner, **more):
    """Return a call with small weights, so that float16 does not overflow."""
    upper, lower = T((hidden, inner), low=-1, high=1), T((inner, hidden), low=-1, high=1)
    x = T((tokens, hidden))
    return dict(inoutput=x, weight1=upper, weight2=lower, weight3=upper, workspace_size=0, **more)


CASES = [
    calls(
        "FusedSiluFfnInp",
        layer(5, 8, 12, fusion_level=0),
        layer(1, 1, 1, fusion_level=0),
        layer(33, 17, 70, fusion_level=1),
        layer(0, 4, 6, fusion_level=0),
        layer(3, 4, 0, fusion_level=0),
        layouts=("transposed", "strided", "offset"),
    ),
    refused(
        "FusedSiluFfnInp",
        dict(
            inoutput="5x8",
            weight1=T("8x12", low=-1, high=1),
            weight2=T("12x8", low=-1, high=1),
            weight3=T("8x12", low=-1, high=1),
            workspace_size=0,
            fusion_level=0,
        ),
        dict(inoutput="5x8x1"),
        dict(inoutput="5x9"),
        dict(weight1=T("8x13", low=-1, high=1)),
        dict(fusion_level=-1),
        dict(inoutput=T("5x8", low=0, high=1, dtype="int64")),
    ),
]
