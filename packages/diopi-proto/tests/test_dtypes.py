"""dtypes and the bfloat16 conversion."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto.dtypes import (
    DTYPES,
    bfloat16_to_float32,
    dtype_of,
    float32_to_bfloat16,
    to_storage,
)
from diopi_proto.host.cabi import ffi


def test_numbers_are_those_of_the_header() -> None:
    header = ffi.typeof("diopiDtype_t").relements
    assert {f"diopi_dtype_{d.name}": d.number for d in DTYPES.values()} | {
        "diopi_dtype_unsupported": 255
    } == header


@pytest.mark.parametrize(
    "value", ["float16", 8, np.float16, np.dtype("float16"), DTYPES["float16"]]
)
def test_a_dtype_is_found_by_name_number_and_numpy_dtype(value: object) -> None:
    assert dtype_of(value) is DTYPES["float16"]  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["float8", 99, "datetime64[s]", object, "U4"])
def test_unknown_dtypes_are_named(value: object) -> None:
    with pytest.raises(ValueError, match="not a dtype of the contract"):
        dtype_of(value)  # type: ignore[arg-type]


def test_every_bfloat16_survives_a_round_trip() -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    values = bfloat16_to_float32(bits)
    back = float32_to_bfloat16(values)
    number = ~np.isnan(values)
    assert (back[number] == bits[number]).all()
    assert np.isnan(bfloat16_to_float32(back[~number])).all()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, 1.0),
        (1.0 + 2**-8, 1.0),  # a tie rounds to the even neighbor below
        (1.0 + 3 * 2**-8, 1.0 + 2**-6),  # and to the one above
        (1.0 + 2**-8 + 2**-20, 1.0 + 2**-7),  # not a tie
        (1.0 + 2**-8 + 2**-40, 1.0 + 2**-7),  # not a tie either: rounded once, not via float32
        (-1.0 - 2**-8, -1.0),
        (3.4e38, np.inf),  # beyond the largest bfloat16 plus half its spacing
        (-np.inf, -np.inf),
    ],
)
def test_rounding_is_to_nearest_even(value: float, expected: float) -> None:
    assert bfloat16_to_float32(float32_to_bfloat16(np.array(value))) == np.float32(expected)


def test_shapes_are_kept() -> None:
    assert float32_to_bfloat16(np.zeros((2, 0, 3))).shape == (2, 0, 3)
    assert bfloat16_to_float32(np.zeros((), dtype=np.uint16)).shape == ()


def test_uint16_is_taken_as_bits_and_floats_are_rounded() -> None:
    bits = np.array([0x3F80], dtype=np.uint16)
    assert to_storage(bits, DTYPES["bfloat16"]) is bits
    assert (to_storage(np.array([1.0]), DTYPES["bfloat16"]) == bits).all()


def test_complex32_is_made_from_bits_only() -> None:
    with pytest.raises(ValueError, match="uint32 bits"):
        to_storage(np.zeros(2, np.complex64), DTYPES["complex32"])
