"""Fused products, quotients and interpolation."""

from dl_conformance.vocabulary import T, calls, refused

DIVISOR = dict(low=1, high=3)

CASES = [
    calls(
        "Addcmul",
        dict(input="3x41", tensor1="3x41", tensor2="3x41", value=2),
        dict(input="3x1", tensor1="2x1x4", tensor2="4", value=3),
        dict(input="-", tensor1="5", tensor2="-", value=1),
    ),
    calls(
        "AddcmulInp",
        dict(input="3x41", tensor1="3x41", tensor2="3x41", value=2),
        dict(input="2x3x4", tensor1="3x1", tensor2="4", value=3),
    ),
    calls(
        "Addcdiv AddcdivInp",
        dict(input="3x41", tensor1="3x41", tensor2=T("3x41", **DIVISOR), value=2),
        dict(input="2x3x4", tensor1="3x1", tensor2=T("4", **DIVISOR), value=-1.5),
    ),
    calls(
        "LerpTensor",
        dict(input="3x41", end="3x41", weight=T("3x41", low=0, high=1)),
        dict(input="2x3x4", end="3x1", weight=T("-", low=0, high=1)),
    ),
    calls(
        "LerpScalar", *(dict(input="3x41", end="3x41", weight=w) for w in (0.25, 0.75, 0.0, 1.0))
    ),
    refused(
        "Addcmul",
        dict(input="3x41", tensor1="3x41", tensor2="3x41", value=2),
        dict(input="3x41x1"),
        dict(input="3"),
        dict(input=T("3x41", low=0, high=1, dtype="int64")),
    ),
    refused(
        "AddcmulInp",
        dict(input="3x41", tensor1="3x41", tensor2="3x41", value=2),
        dict(input="3x41x1"),
    ),
    refused(
        "Addcdiv AddcdivInp",
        dict(input="3x41", tensor1="3x41", tensor2=T("3x41", low=1, high=3), value=2),
        dict(input="3x41x1"),
    ),
    refused(
        "LerpTensor",
        dict(input="3x41", end="3x41", weight=T("3x41", low=0, high=1)),
        dict(input="3x41x1"),
    ),
    refused(
        "LerpScalar",
        dict(input="3x41", end="3x41", weight=0.25),
        dict(input="3x41x1"),
    ),
]
