"""Bernoulli sampling and dropout."""

from dl_conformance.vocabulary import T, calls, refused

SHAPES = ("40x9", "5x7", "-", "0x3")
MASKS = [("40x9", "40x9"), ("2x3x4x4", "2x3x1x1"), ("2x3x4x4", "1x3x1x4"), ("2x3x4x4", "4")]


def dropout(shape, mask, p, kind):
    return dict(input=shape, mask=T(mask, dtype=kind), p=p, train=True, generator=(43, 0))


CASES = [
    calls(
        "Bernoulli",
        *(dict(input=T(s, low=0, high=1), generator=(42, 1)) for s in SHAPES),
    ),
    calls("BernoulliInp", *(dict(inout=T(s, low=0, high=1), generator=(42, 1)) for s in SHAPES)),
    calls(
        "BernoulliScalar",
        *(dict(out=T(s), p=p, generator=(41, 0)) for s in SHAPES for p in (0.3, 0.0, 1.0)),
    ),
    calls(
        "Dropout DropoutInp",
        *(dropout(s, m, 0.25, "bool") for s, m in MASKS),
        dropout("5x7", "5x7", 0.5, "uint8"),
        dropout("5x7", "5x7", 0.0, "bool"),
        dropout("5x7", "5x7", 1.0, "bool"),
    ),
    refused(
        "Bernoulli",
        dict(input=T("40x9", low=0, high=1), generator=(42, 1)),
        dict(input=T("40x9x1", low=0, high=1)),
        dict(input=T("40x9", low=0, high=1, dtype="int64")),
        data=[dict(input=T("40x9", values=[-2.0]))],
    ),
    refused(
        "BernoulliInp",
        dict(inout=T("40x9", low=0, high=1), generator=(42, 1)),
        data=[dict(inout=T("40x9", values=[-2.0]))],
    ),
    refused(
        "BernoulliScalar",
        dict(out="40x9", p=0.3, generator=(41, 0)),
        dict(p=-1.0),
    ),
    refused(
        "Dropout",
        dict(input="40x9", mask=T("40x9", dtype="bool"), p=0.25, train=True, generator=(43, 0)),
        dict(mask="40x9x1"),
        dict(input="40x9x1"),
    ),
    refused(
        "DropoutInp",
        dict(input="40x9", mask=T("40x9", dtype="bool"), p=0.25, train=True, generator=(43, 0)),
        dict(input="40x9x1"),
    ),
]
