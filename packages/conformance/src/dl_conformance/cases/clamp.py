"""Clamping."""

from dl_conformance.vocabulary import T, calls, refused

SCALARS = [
    dict(min=-1, max=2),
    dict(min=0, max=2),
    dict(min=None, max=1),
    dict(min=1, max=None),
    dict(min=2, max=1),
]
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
    refused(
        "ClampScalar",
        dict(input="3x41", min=-1, max=2),
        dict(input="3x41x1"),
        dict(input="3"),
        dict(out=T("3x41", dtype="int64")),
    ),
    refused(
        "Clamp",
        dict(input="3x41", min=None, max="3x41"),
        dict(max=None),
    ),
    refused(
        "ClampInp",
        dict(input="3x41", min="41", max="3x1"),
        dict(input="3x41x1"),
    ),
    refused(
        "ClampMaxScalar",
        dict(input="3x41", max=1),
        dict(input="3x41x1"),
    ),
    refused(
        "ClampMinScalar",
        dict(input="3x41", min=1),
        dict(input="3x41x1"),
    ),
    refused(
        "ClampMax ClampMaxInp",
        dict(input="3x41", max="3x41"),
        dict(input="3x41x1"),
    ),
    refused(
        "ClampMin ClampMinInp",
        dict(input="3x41", min="3x41"),
        dict(input="3x41x1"),
    ),
]
