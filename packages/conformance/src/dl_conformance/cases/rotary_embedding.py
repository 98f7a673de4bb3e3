"""Rotary position embedding."""

from dl_conformance.vocabulary import T, calls, refused


def angles(shape):
    return T(shape, low=-1, high=1)


CASES = [
    calls(
        "RotaryEmbedding",
        *(
            dict(x=x, cos=angles(a), sin=angles(a), conj=c, interleaved=i)
            for c in (False, True)
            for i in (False, True)
            for x, a in (
                ("3x4x6", "4x3"),
                ("2x8", "2x4"),
                ("6", "-"),
                ("0x4", "2"),
                ("2x3x4x6", "2x1x4x3"),
            )
        ),
    ),
    calls(
        "RotaryEmbeddingV2",
        *(
            dict(query=q, key=k, cos=angles(a), sin=angles(a), dim=4)
            for q, k, a in (
                ("5x12", "5x8", "5x4"),
                ("2x5x3x4", "2x5x1x4", "5x1x4"),
                ("5x12", "5x4", "5x1x4"),
            )
        ),
    ),
    refused(
        "RotaryEmbedding",
        dict(
            x="3x4x6",
            cos=T("4x3", low=-1, high=1),
            sin=T("4x3", low=-1, high=1),
            conj=False,
            interleaved=False,
        ),
        dict(x="3x4x6x1"),
        dict(cos=T("4x3x1", low=-1, high=1)),
        dict(sin=T("4x3x1", low=-1, high=1)),
        dict(x=T("3x4x6", low=0, high=1, dtype="int64")),
    ),
    refused(
        "RotaryEmbeddingV2",
        dict(
            query="5x12",
            key="5x8",
            cos=T("5x4", low=-1, high=1),
            sin=T("5x4", low=-1, high=1),
            dim=4,
        ),
        dict(query="5x12x1"),
        dict(dim=-1),
    ),
]
