"""Maxima and minima with their indices."""

from dl_conformance.vocabulary import T, calls, refused

CASES = [
    calls(
        "Max Min",
        dict(input=T("5x7", apart=True), dim=1),
        dict(input=T("5x7", apart=True), dim=0),
        dict(input=T("3x5x4", apart=True), dim=-2),
        dtypes="float16 bfloat16 float32 float64 uint8 int8 int16 int32 int64",
        layouts=("transposed", "strided", "offset"),
    ),
    calls(
        "Argmax Argmin",
        dict(input="5x7", dim=1, keepdim=False),
        dict(input="5x7", dim=0, keepdim=True),
        dict(input="5x7", dim=None, keepdim=False),
        dict(input="3x5x4", dim=-2, keepdim=False),
        dict(input="-", dim=None, keepdim=False),
        edges="extreme",
    ),
    refused(
        "Max",
        dict(input=T("5x7", apart=True), dim=1),
        dict(max="6"),
        dict(input=T("5x7x1", apart=True)),
        dict(input=T("5", apart=True)),
        dict(max=T("5", dtype="int64")),
    ),
    refused(
        "Max",
        dict(input=T("5x7", apart=True), dim=0),
        dict(max="7x1"),
        dict(input=T("-", apart=True)),
    ),
    refused(
        "Min",
        dict(input=T("5x7", apart=True), dim=1),
        dict(min="6"),
    ),
    refused(
        "Argmax Argmin",
        dict(input="5x7", dim=1, keepdim=False),
        dict(input="5x7x1"),
    ),
]
