"""Conversion of torch tensors to the tensors of a case file."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from dl_conformance.captured import Placed, Written
from dl_conformance.inputs import Array
from dl_conformance.tensor_file import CODES, Stored
from dl_optools.conformance.errors import NotServedError

_ALIGNMENT = 64
"""Alignment in bytes; an offset relative to it is preserved."""


def dtype_name(tensor: torch.Tensor) -> str:
    """Return the contract's name of a tensor's dtype.

    :raises NotServedError: a case cannot hold such a tensor.
    """
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in CODES or tensor.layout != torch.strided or tensor.is_quantized:
        raise NotServedError(f"a case cannot hold a {name} tensor of layout {tensor.layout}")
    return name


def elements(tensor: torch.Tensor) -> Array:
    """Return the elements as stored by their dtype."""
    plain = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
    if plain.dtype == torch.bfloat16:
        return np.array(plain.view(torch.int16).numpy()).view(np.uint16)
    return np.array(plain.numpy())


def to_stored(tensor: torch.Tensor) -> Stored:
    return Stored(dtype_name(tensor), elements(tensor))


def to_placed(tensor: torch.Tensor) -> Placed:
    """Return the elements and their memory layout."""
    name = dtype_name(tensor)
    offset = int(tensor.storage_offset()) % (_ALIGNMENT // tensor.element_size())
    return Placed(name, elements(tensor), tuple(tensor.stride()), offset)


def to_argument(value: Any) -> Any:
    """Convert an argument of a contract call for a case file.

    :raises NotServedError: a case cannot hold it.
    """
    if isinstance(value, torch.Tensor):
        return to_placed(value)
    if isinstance(value, (list, tuple)):
        return [to_argument(x) for x in value]
    if isinstance(value, complex):
        raise NotServedError("a case cannot hold a complex number")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise NotServedError(f"a case cannot hold {type(value).__name__} {value!r}")


def to_output(tensor: torch.Tensor) -> Written:
    """Describe an output, whose elements the call has to compute."""
    return Written(dtype_name(tensor), tuple(tensor.shape), tuple(tensor.stride()))
