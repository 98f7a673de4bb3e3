"""Tensors filled with one value."""

from dl_conformance.vocabulary import T, calls

SHAPES = ("3x41", "2x3x4x5", "-", "0x3")

CASES = [
    calls("Ones Zeros", dict(size=[3, 41]), dict(size=[]), dict(size=[0, 3])),
    calls("Fill", *(dict(input=T(s), value=v) for s in SHAPES for v in (0, 1, 5))),
    calls(
        "Fill",
        *(dict(input=T("3x5"), value=v) for v in (-2.5, float("inf"), float("nan"))),
        dtypes="float16 bfloat16 float32 float64 complex64 complex128",
    ),
    calls("ZeroInp", *(dict(self=T(s)) for s in SHAPES)),
]
