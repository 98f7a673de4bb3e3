"""The operators that this vendor promises, with their dtypes. Extend it with each new family."""

_FLOATS = ("float16", "bfloat16", "float32", "float64")
_NUMBERS = (*_FLOATS, "uint8", "int8", "int16", "int32", "int64")

PROFILE: dict[str, tuple[str, ...]] = {
    "diopiAdd": _NUMBERS,
    "diopiSub": _NUMBERS,
    "diopiMul": _NUMBERS,
    "diopiRelu": _NUMBERS,
    "diopiCopyInp": _NUMBERS,
    "diopiFill": _NUMBERS,
    "diopiMm": _FLOATS,
    "diopiAddmm": _FLOATS,
    "diopiSum": _FLOATS,
    "diopiMean": _FLOATS,
}
