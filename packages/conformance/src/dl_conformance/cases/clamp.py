"""Limits."""

from dl_conformance.vocabulary import calls

SCALARS = [dict(min=0, max=2), dict(min=None, max=1), dict(min=1, max=None), dict(min=2, max=1)]
TENSORS = [
    dict(input="3x41", min="41", max="3x1"),
    dict(input="3x41", min=None, max="3x41"),
    dict(input="3x41", min="-", max=None),
    dict(input="0x3", min="3", max="3"),
]

CASES = [
    calls(
        "ClampScalar ClampInpScalar", *(dict(input="3x41", **x) for x in SCALARS), edges="extreme"
    ),
    calls("Clamp ClampInp", *TENSORS, edges="extreme"),
    calls(
        "ClampMaxScalar ClampMaxInpScalar",
        dict(input="3x41", max=1),
        dict(input="-", max=1),
        edges="extreme",
    ),
    calls(
        "ClampMinScalar ClampMinInpScalar",
        dict(input="3x41", min=1),
        dict(input="-", min=1),
        edges="extreme",
    ),
    calls(
        "ClampMax ClampMaxInp",
        dict(input="3x41", max="3x41"),
        dict(input="3x41", max="3x1"),
        edges="extreme",
    ),
    calls(
        "ClampMin ClampMinInp",
        dict(input="3x41", min="3x41"),
        dict(input="3x41", min="41"),
        edges="extreme",
    ),
]
