"""Sum, mean, product, maximum and minimum over dimensions."""

from dl_conformance.vocabulary import T, calls, refused

FLOATS = "float16 bfloat16 float32 float64"
DIMS = [
    dict(input="5x7x3", dim=[1]),
    dict(input="5x7x3", dim=None),
    dict(input="5x7x3", dim=[0, 2]),
    dict(input="5x7x3", dim=[-1]),
    dict(input="2x300", dim=[1]),
    dict(input="-", dim=None),
]

CASES = [
    calls(
        "Sum Mean",
        *DIMS,
        dict(input=T("2x5000", low=0.5, high=3), dim=[1]),
        dtypes=FLOATS,
        edges="special",
    ),
    calls("Sum", dict(input="0x3", dim=[0]), dict(input="3x0", dim=None), dtypes=FLOATS),
    calls(
        "Sum",
        *(dict(x, out=T("-", dtype="int64")) for x in DIMS),
        dtypes="uint8 int8 int16 int32 int64 bool",
    ),
    calls(
        "Prod",
        dict(input=T("5x7", low=0.5, high=2), dim=1),
        dict(input=T("5x7", low=0.5, high=1.5), dim=None),
        dict(input=T("2x3x4", low=-2, high=2), dim=0),
        dtypes=FLOATS,
    ),
    calls(
        "Prod",
        dict(input="5x7", dim=1, out=T("-", dtype="int64")),
        dtypes="uint8 int8 int16 int32 int64",
    ),
    calls(
        "Amax",
        dict(self="5x7x3", dim=[1], keepdim=False),
        dict(self="5x7x3", dim=[0, 2], keepdim=True),
        dict(self="5x7x3", dim=None, keepdim=False),
        dict(self="2x300", dim=[1], keepdim=True),
        edges="extreme",
    ),
    calls(
        "MaxAll MinAll", dict(input="3x41"), dict(input="-"), dict(input="2x3x4x5"), edges="extreme"
    ),
    refused(
        "Sum",
        dict(input="5x7x3", dim=[1]),
        dict(input="5x7x3x1"),
        dict(input="5x7"),
        dict(dim=[1, 1]),
        dict(dim=[99]),
    ),
    refused(
        "Mean",
        dict(input="5x7x3", dim=[1]),
        dict(out=T("5x3", dtype="int64")),
    ),
    refused(
        "Prod",
        dict(input=T("5x7", low=0.5, high=2), dim=1),
        dict(input=T("5x7x1", low=0.5, high=2)),
    ),
    refused(
        "Amax",
        dict(self="5x7x3", dim=[1], keepdim=False),
        dict(self="5x7x3x1"),
    ),
]
