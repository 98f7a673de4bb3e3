"""The contract's types and constants, for use from Python."""

from __future__ import annotations

from typing import Any

from .. import _ffi_gen
from .._native import text
from ..header_constants import HeaderConstants

__all__ = ["constants", "ffi", "text"]

# cffi's objects have no static types.
ffi: Any = _ffi_gen.ffi
constants = HeaderConstants(ffi)
"""Enumerators and integer macros as attributes: ``constants.DL_TENSOR_MAGIC``."""
