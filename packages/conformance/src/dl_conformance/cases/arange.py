"""Evenly spaced numbers."""

from dl_conformance.vocabulary import T, calls, refused

CASES = [
    calls(
        "Arange",
        dict(start=0, end=7, step=1),
        dict(start=2, end=11, step=3),
        dict(start=0, end=0, step=1),
    ),
    calls(
        "Arange",
        dict(start=0.5, end=3.0, step=0.25),
        dict(start=2.0, end=-1.0, step=-0.5),
        dtypes="float16 bfloat16 float32 float64",
    ),
    calls(
        "Linspace",
        dict(start=0.0, end=1.0, steps=5),
        dict(start=-2.0, end=3.0, steps=41),
        dict(start=1.0, end=2.0, steps=1),
        dtypes="float16 bfloat16 float32 float64",
    ),
    calls(
        "MeshGrid",
        dict(inputs=["5", "7"]),
        dict(inputs=["3"]),
        dict(inputs=["2", "1", "4"]),
        dict(inputs=["3", "0"]),
    ),
    refused(
        "Linspace",
        dict(start=0.0, end=1.0, steps=5),
        dict(steps=-1),
    ),
    refused(
        "MeshGrid",
        dict(inputs=["5", "7"]),
        dict(inputs=["5", "7x1"]),
        dict(outs=["5x7", "5x7x1"]),
        dict(inputs=["5", T("7", dtype="int64")]),
    ),
]
