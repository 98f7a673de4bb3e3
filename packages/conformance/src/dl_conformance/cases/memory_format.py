"""Casts to the format ND, which hosts use for tensors, and a hook that receives addresses."""

from dl_conformance.vocabulary import calls, refused

CASES = [
    calls(
        "NativeMemoryFormatCast",
        *(
            {"in": shape, "format": 2}
            for shape in ("5x3", "7", "-", "0x3", "1x1", "1x2x3x4", "301")
        ),
        layouts=("transposed", "strided", "offset", "expanded"),
    ),
    calls(
        "GetNativeMemoryFormat",
        *(dict(input=shape) for shape in ("5x3", "7", "-", "0x3")),
        layouts=("transposed", "strided", "offset"),
    ),
    # The call has no result: the test is that it succeeds and writes nothing.
    calls("TensorDestructionHook", dict(ptr=0), dict(ptr=4096), dtypes="float32"),
    refused(
        "NativeMemoryFormatCast",
        {"in": "5x3", "format": 2},
        dict(format=-1),
    ),
]
