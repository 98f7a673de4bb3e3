"""Tensors of torch as a file of cases has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from dl_conformance.captured import Placed, Written
from dl_conformance.inputs import Array
from dl_conformance.tensor_file import CODES, Stored
from dl_optools.conformance.errors import NotServedError

_ALIGNMENT = 64
"""Bytes; where a tensor begins between two such places is kept."""


def dtype_name(tensor: torch.Tensor) -> str:
    """The contract's name of a tensor's dtype.

    :raises NotServedError: a case has no such tensor.
    """
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in CODES or tensor.layout != torch.strided or tensor.is_quantized:
        raise NotServedError(f"a {name} tensor of layout {tensor.layout} is in no case")
    return name


def elements(tensor: torch.Tensor) -> Array:
    """The elements as their dtype stores them."""
    plain = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
    if plain.dtype == torch.bfloat16:
        return np.array(plain.view(torch.int16).numpy()).view(np.uint16)
    return np.array(plain.numpy())


def stored(tensor: torch.Tensor) -> Stored:
    return Stored(dtype_name(tensor), elements(tensor))


def placed(tensor: torch.Tensor) -> Placed:
    """The elements and where they lie."""
    name = dtype_name(tensor)
    offset = int(tensor.storage_offset()) % (_ALIGNMENT // tensor.element_size())
    return Placed(name, elements(tensor), tuple(tensor.stride()), offset)


def argument(value: Any) -> Any:
    """An argument of a call of the contract, as a file has it.

    :raises NotServedError: a case cannot have it.
    """
    if isinstance(value, torch.Tensor):
        return placed(value)
    if isinstance(value, (list, tuple)):
        return [argument(x) for x in value]
    if isinstance(value, complex):
        raise NotServedError("a complex number is in no case")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise NotServedError(f"{type(value).__name__} {value!r} is in no case")


def written(tensor: torch.Tensor) -> Written:
    """An output, whose elements the call has to find."""
    return Written(dtype_name(tensor), tuple(tensor.shape), tuple(tensor.stride()))
