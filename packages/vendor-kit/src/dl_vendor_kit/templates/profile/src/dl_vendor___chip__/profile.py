"""The operators that this vendor promises, with their dtypes. Extend it with each new operator."""

PROFILE: dict[str, tuple[str, ...]] = {
    "diopiAdd": ("float32",),
    "diopiSub": ("float32",),
    "diopiMul": ("float32",),
    "diopiNeg": ("float32",),
    "diopiRelu": ("float32",),
    "diopiCopyInp": ("float32",),
    "diopiMm": ("float32",),
}
