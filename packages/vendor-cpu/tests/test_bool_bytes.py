"""Tests of bools with bytes other than 0 and 1: every byte except 0 is true, and other devices and
views produce such bytes.

Operators give the same results for them as for 0 and 1, and bools that they compute are 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from calls import Call, TensorSpec, calls_of
from diopi_proto import OperatorError, Vendor
from diopi_proto.schema import load
from support import Array, operators

BYTES = np.array([2, 255, 128, 3, 254, 64], np.uint8)

MOVING_FAMILIES = frozenset(
    {
        *("advanced_index", "concat", "copy", "embedding", "fill", "gather", "index_fill"),
        *(
            "memory_format",
            "nonzero",
            "padding",
            "rearrange",
            "scatter",
            "slice",
            "sort",
            "tril",
            "unique",
            "where",
        ),
    }
)
MOVING = frozenset(
    {"diopiConj", "diopiIm2Col", "diopiMax", "diopiMeshGrid", "diopiMin", "diopiUnfold"}
)
"""Operators that move elements without interpreting the bytes."""


def calls_with_bools(name: str) -> list[Call]:
    """Calls with bool operands, and calls in which only the masks are bools."""
    found = [call for main in ("bool", None) for call in calls_of(name, main)]
    return [call for call in found if any(read_as_bool(call, *each) for each in call.tensors())]


def read_as_bool(call: Call, name: str, position: int | None, tensor: TensorSpec) -> bool:
    return tensor.dtype == "bool" and call.operator.parameter(name).direction != "out"


NAMES = [name for name in operators() if calls_with_bools(name)]


def with_bytes(call: Call, layout: str, change: Callable[[Array], Array]) -> Call:
    """Return the call with other bytes in its bools."""
    for at, (name, position, tensor) in enumerate(list(call.tensors())):
        if tensor.dtype == "bool":
            values = tensor.array(seed=20 + at)
            given = replace(tensor, values=change(values).view(bool), layout=layout)
            call = call.with_tensor(name, position, given)
    return call


def odd(values: Array) -> Array:
    """Return the same boolean values as other bytes."""
    flat = values.ravel().astype(np.uint8)
    return (flat * np.resize(BYTES, flat.size)).reshape(values.shape)


@pytest.mark.parametrize("layout", ["dense", "sliced"])
@pytest.mark.parametrize("name", NAMES)
def test_every_byte_but_0_is_true(vendor: Vendor, name: str, layout: str) -> None:
    for call in calls_with_bools(name):
        try:
            want = with_bytes(call, layout, lambda values: values.astype(np.uint8)).results(vendor)
        except OperatorError:
            continue  # the vendor declines the dtype
        got = with_bytes(call, layout, odd).results(vendor)
        assert got.keys() == want.keys()
        for key, value in got.items():
            compare(name, key, value, want[key])


def compare(name: str, key: str, got: Array, want: Array) -> None:
    assert got.shape == want.shape, key
    if got.dtype == bool:
        got, want = got.view(np.uint8), want.view(np.uint8)
        if load()[name].family not in MOVING_FAMILIES and name not in MOVING:
            assert got.max(initial=0) <= 1, f"{key} holds bytes other than 0 and 1"
        got, want = got != 0, want != 0
    assert np.array_equal(got, want, equal_nan=got.dtype.kind in "fc"), key


def test_odd_bytes_are_what_the_operators_get(vendor: Vendor) -> None:
    tensor = TensorSpec((2, 3), "bool", values=odd(np.ones((2, 3), bool)).view(bool)).place(
        vendor, 1
    )
    assert (tensor.numpy().view(np.uint8) == np.resize(BYTES, 6).reshape(2, 3)).all()
