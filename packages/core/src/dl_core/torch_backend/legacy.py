"""``torch.dl.FloatStorage`` and its like: the storage classes of old files and old code."""

from __future__ import annotations

from functools import cache
from types import new_class

import torch

_DTYPES = {
    "BFloat16Storage": torch.bfloat16,
    "BoolStorage": torch.bool,
    "ByteStorage": torch.uint8,
    "CharStorage": torch.int8,
    "ComplexDoubleStorage": torch.complex128,
    "ComplexFloatStorage": torch.complex64,
    "DoubleStorage": torch.float64,
    "FloatStorage": torch.float32,
    "HalfStorage": torch.float16,
    "IntStorage": torch.int32,
    "LongStorage": torch.int64,
    "ShortStorage": torch.int16,
}


@cache
def storage_class(name: str) -> type | None:
    """The class ``torch.dl.<name>``, None if there is none of that name."""
    dtype = _DTYPES.get(name)
    if dtype is None:
        return None
    # torch tells the device of such a class from the last part of its module's name.
    members = {"__module__": "torch.dl", "dtype": dtype, "_dtype": dtype}
    return new_class(name, (torch.storage._LegacyStorage,), exec_body=lambda ns: ns.update(members))
