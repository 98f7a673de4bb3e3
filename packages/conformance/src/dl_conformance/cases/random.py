"""Random numbers."""

from dl_conformance.vocabulary import T, calls, refused

STATES = [(5, 0), ((5 << 33) + 9, (1 << 32) + 7)]
SHAPES = ("3x7", "257", "-", "0x3")


def bounds(low, high):
    return {"from": low, "to": high}


def positive(shape):
    return T(shape, low=0.5, high=2)


CASES = [
    calls(
        "UniformInp",
        *(
            dict(inout=T(s), generator=g, **bounds(a, b))
            for s in SHAPES
            for g in STATES
            for a, b in ((0.0, 1.0), (-1.0, 3.0))
        ),
    ),
    calls(
        "RandomInp",
        *(
            dict(inout=T(s), generator=g, **bounds(a, b))
            for s in SHAPES
            for g in STATES
            for a, b in ((0, 2), (0, 1))
        ),
    ),
    calls(
        "RandomInp",
        dict(inout=T("41"), generator=(7, 1), **bounds(-(1 << 40), 1 << 41)),
        dict(inout=T("41"), generator=(7, 1), **bounds(-(1 << 63), (1 << 63) - 1)),
        # Around the largest range that takes one word, and the largest that one word could cover.
        dict(inout=T("41"), generator=(7, 1), **bounds(-5, (1 << 24) - 5)),
        dict(inout=T("41"), generator=(7, 1), **bounds(-5, (1 << 24) - 4)),
        dict(inout=T("41"), generator=(7, 1), **bounds(0, 3 << 29)),
        dict(inout=T("41"), generator=(7, 1), **bounds(-(1 << 31), 1 << 31)),
        dtypes="int64",
    ),
    calls(
        "RandomInp",
        *(dict(inout=T(s), generator=g, **bounds(3, 100)) for s in SHAPES for g in STATES),
        dtypes="uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64",
    ),
    calls(
        "Normal",
        *(
            dict(out=T(s), mean=m, std=d, generator=g)
            for s in SHAPES
            for g in STATES
            for m, d in ((0.0, 1.0), (1.0, 2.5))
        ),
    ),
    calls("NormalInp", *(dict(inout=T(s), mean=1.0, std=2.5, generator=(5, 3)) for s in SHAPES)),
    calls(
        "NormalTensorScalar",
        *(dict(out=T(s), mean=s, std=2.5, generator=(5, 3)) for s in SHAPES),
    ),
    calls(
        "NormalScalarTensor",
        *(dict(out=T(s), mean=1.0, std=positive(s), generator=(5, 3)) for s in SHAPES),
    ),
    calls(
        "NormalTensor",
        *(dict(out=T(s), mean=s, std=positive(s), generator=(5, 3)) for s in SHAPES),
    ),
    refused(
        "UniformInp",
        {"inout": "3x7", "generator": (5, 0), "from": 0.0, "to": 1.0},
        {"from": 2.0},
        dict(inout=T("3x7", dtype="int64")),
    ),
    refused(
        "RandomInp",
        {"inout": "3x7", "generator": (5, 0), "from": 0, "to": 2},
        {"from": 3},
    ),
    refused(
        "Normal",
        dict(out="3x7", mean=0.0, std=1.0, generator=(5, 0)),
        dict(std=-1.0),
    ),
    refused(
        "NormalInp",
        dict(inout="3x7", mean=1.0, std=2.5, generator=(5, 3)),
        dict(std=-1.0),
    ),
    refused(
        "NormalTensorScalar",
        dict(out="3x7", mean="3x7", std=2.5, generator=(5, 3)),
        dict(mean="3x7x1"),
    ),
    refused(
        "NormalScalarTensor",
        dict(out="3x7", mean=1.0, std=T("3x7", low=0.5, high=2), generator=(5, 3)),
        dict(std=T("3x7x1", low=0.5, high=2)),
        data=[dict(std=T("3x7", values=[-2.0]))],
    ),
    refused(
        "NormalTensor",
        dict(out="3x7", mean="3x7", std=T("3x7", low=0.5, high=2), generator=(5, 3)),
        dict(mean="3x7x1"),
        data=[dict(std=T("3x7", values=[-2.0]))],
    ),
]
