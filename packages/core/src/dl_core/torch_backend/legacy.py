"""``torch.dl.FloatStorage``, ``torch.dl.FloatTensor`` and similar classes, for old files and
programs."""

from __future__ import annotations

from functools import cache
from types import new_class
from typing import Any

import torch

from dl_core.torch_backend import DEVICE

_DTYPES = {
    "BFloat16": torch.bfloat16,
    "Bool": torch.bool,
    "Byte": torch.uint8,
    "Char": torch.int8,
    "ComplexDouble": torch.complex128,
    "ComplexFloat": torch.complex64,
    "Double": torch.float64,
    "Float": torch.float32,
    "Half": torch.float16,
    "Int": torch.int32,
    "Long": torch.int64,
    "Short": torch.int16,
}
# torch derives the device of such a class from the last part of its module name.
_MODULE = f"torch.{DEVICE}"

STORAGES = tuple(f"{name}Storage" for name in _DTYPES)
TENSORS = tuple(f"{name}Tensor" for name in _DTYPES if not name.startswith("Complex"))


@cache
def legacy_class(name: str) -> type | None:
    """Return the class ``torch.dl.<name>``; None if it does not exist."""
    if name in STORAGES:
        dtype = _DTYPES[name.removesuffix("Storage")]
        members = {"__module__": _MODULE, "dtype": dtype, "_dtype": dtype}
        return new_class(
            name, (torch.storage._LegacyStorage,), exec_body=lambda ns: ns.update(members)
        )
    if name in TENSORS:
        dtype = _DTYPES[name.removesuffix("Tensor")]
        # `Tensor.type(cls)` uses only the name, which must contain the module.
        return _TensorType(f"{_MODULE}.{name}", (), {"__module__": _MODULE, "dtype": dtype})
    return None


class _TensorType(type):
    """A tensor type of torch before 0.4: creates tensors of one dtype, and implements
    isinstance()."""

    dtype: torch.dtype

    def __call__(cls, *args: Any) -> torch.Tensor:
        """Create an empty tensor from sizes, or a tensor from values."""
        if len(args) == 1 and not isinstance(args[0], int | torch.Size):
            return torch.as_tensor(args[0], dtype=cls.dtype, device=DEVICE)
        sizes = args[0] if args and isinstance(args[0], torch.Size) else args
        return torch.empty(sizes or (0,), dtype=cls.dtype, device=DEVICE)

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, torch.Tensor)
            and instance.device.type == DEVICE
            and instance.dtype == cls.dtype
        )
