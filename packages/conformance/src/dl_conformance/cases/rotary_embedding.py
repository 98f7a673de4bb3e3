"""Rotary position embedding."""

from dl_conformance.vocabulary import T, calls


def angles(shape):
    return T(shape, low=-1, high=1)


CASES = [
    calls(
        "RotaryEmbedding",
        *(
            dict(x=x, cos=angles(a), sin=angles(a), conj=c, interleaved=i)
            for c in (False, True)
            for i in (False, True)
            for x, a in (("3x4x6", "4x3"), ("2x8", "2x4"), ("6", "-"), ("0x4", "2"))
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
]
