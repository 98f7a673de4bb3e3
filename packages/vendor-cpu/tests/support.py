"""Inputs in every dtype and layout, and comparison of results with references in longdouble."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from diopi_proto import Tensor, Vendor, load_vendor
from diopi_proto.tolerance import OpClass, bfloat16_to_float32, compare, float32_to_bfloat16
from dl_vendor_cpu.plugin import dl_vendor

Array = npt.NDArray[Any]

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTS = ("int8", "uint8", "int16", "int32", "int64")
NUMBERS = FLOATS + INTS
REALS = (*NUMBERS, "bool")
LAYOUTS = ("dense", "transposed", "sliced")
COMPLEXES = ("complex64", "complex128")
EVERY = (*REALS, *COMPLEXES)
GRADIENTS = (*FLOATS, *COMPLEXES)
ACCUMULATE = {"float16": "float32", "bfloat16": "float32"}
"""Accumulate dtype of statistics of half precision."""
DIMS: list[tuple[int, ...] | None] = [None, (0,), (1,), (-1,), (0, 2), (0, 1, 2), (1, 2)]
"""Dimensions over which a three-dimensional tensor is reduced."""

Exact = np.longdouble
"""Type of references: wider than any dtype of the vendor."""


def tested_library() -> str:
    """Return the library that the plugin would choose here, or DL_TEST_LIBRARY."""
    return os.environ.get("DL_TEST_LIBRARY") or str(dl_vendor().library)


def guard(vendor: Vendor, salt: int = 0) -> None:
    """Check the writes of operators, unless AddressSanitizer does: it also checks reads, but needs
    its own guard zones next to the tensors."""
    if os.environ.get("DL_TEST_UNGUARDED") != "1":
        vendor.guard_calls(salt=salt)


@cache
def operators() -> tuple[str, ...]:
    """Return the vendor's operators, in the order of the contract."""
    with load_vendor(tested_library()) as vendor:
        return tuple(name for name, bound in vendor.operators.items() if bound)


def stored(array: npt.ArrayLike, dtype: str) -> Array:
    """Round an array to the dtype, as numpy stores it: bfloat16 and complex32 as bits."""
    values = np.asarray(array)
    if dtype == "complex32":
        parts = np.stack([values.real, values.imag], axis=-1).astype(np.float16)
        return parts.view(np.uint32).reshape(values.shape)
    if dtype == "bfloat16":
        return float32_to_bfloat16(values.astype(np.float32))
    return values.astype(dtype)


def exact(array: Array, dtype: str) -> Array:
    """Return the values of stored elements: longdouble for floats, integers and bools unchanged."""
    if dtype == "bfloat16":
        return bfloat16_to_float32(array).astype(Exact)
    if dtype in COMPLEXES:
        return array.astype(np.clongdouble)
    return array.astype(Exact) if dtype in FLOATS else array


def with_layout(array: Array, layout: str) -> Array:
    """Return the same elements with other strides."""
    if layout == "dense" or array.ndim == 0:
        return np.ascontiguousarray(array).reshape(array.shape)
    if layout == "transposed":
        return np.ascontiguousarray(array.T).T
    if layout == "repeated":
        return np.broadcast_to(array[:1], array.shape)
    if layout == "channels last":
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def place(
    vendor: Vendor, array: npt.ArrayLike, dtype: str, layout: str = "dense"
) -> tuple[Tensor, Array]:
    """Return a tensor with the elements rounded to the dtype, and the rounded values."""
    bits = stored(array, dtype)
    return vendor.tensor(with_layout(bits, layout), dtype=dtype), exact(bits, dtype)


def out_like(vendor: Vendor, shape: tuple[int, ...], dtype: str, layout: str = "dense") -> Tensor:
    """Return an output filled with a value that no test expects."""
    poison = np.full(shape, 77, np.float64)
    return place(vendor, poison, dtype, layout)[0]


def numbers(
    shape: tuple[int, ...], dtype: str, seed: int, low: float = -3.0, high: float = 3.0
) -> Array:
    """Random elements of the dtype in a range; unsigned ones from 0, and half of the bools true."""
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.random(shape) < 0.5
    if dtype.startswith("complex"):
        return random.uniform(low, high, shape) + 1j * random.uniform(low, high, shape)
    if dtype in INTS:
        return random.integers(0 if dtype == "uint8" else int(low), int(high) + 1, shape)
    return random.uniform(low, high, shape)


def axes(dims: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return a dimension of :data:`DIMS` as an axis argument of numpy."""
    return (0, 1, 2) if dims is None else dims


def units_of_last_place(want: Array) -> Array:
    """Return the unit in the last place of the float32 nearest to each number."""
    return np.ldexp(1.0, np.maximum(np.frexp(np.abs(want))[1] - 1, -126) - 23)


def terms(length: int, magnitude: Any) -> dict[str, Any]:
    """Return the parameters of a reduction's error bound."""
    return {"reduction_length": length, "magnitude": magnitude}


def check(
    result: Tensor, reference: npt.ArrayLike, op_class: OpClass, name: str, **terms: Any
) -> None:
    """Fail unless every element is within the bound of the operator's error class."""
    want = np.asarray(reference)
    dtype = result.dtype.name
    if dtype in FLOATS:
        want = want.astype(Exact)
    elif dtype in COMPLEXES:
        want = want.astype(np.clongdouble)
    elif dtype == "bool":
        want = want.astype(bool)
    else:
        want = want.astype(dtype)
    outcome = compare(result.numpy(), want, dtype=dtype, op_class=op_class, **terms)
    assert outcome.ok, outcome.report(f"{name}[{dtype}]")
    assert outcome.total == want.size


def check_untouched(vendor: Vendor, got: Tensor, before: Array, op: str) -> None:
    """Assert that a call with an error in its data wrote nothing, because data is checked first.

    Does not apply to asynchronous vendors, whose work continues before the error is raised.
    """
    if vendor.synchronous:
        check(got, before, OpClass.EXACT, op)
