"""Signs of zeros and strides are compared."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto.schema import load
from diopi_proto.tolerance import float32_to_bfloat16
from dl_conformance.fault import Fault, FaultKind
from dl_conformance.judging import EITHER_ZERO, SIGNED_ZEROS, check_strides, compare_tensor
from dl_conformance.layouts import in_format
from dl_conformance.reference import Expected

ZEROS = np.float32([0.0, -0.0, 1.0])


def verdict(operator: str, got: np.ndarray, want: Expected, dtype: str = "float32") -> str:
    fault, _ = compare_tensor(load()[operator], got, dtype, dtype, want)
    return "" if fault is None else fault.message


def test_exact_operators_have_signs_of_zeros() -> None:
    want = Expected(ZEROS.astype(np.longdouble))
    assert verdict("diopiNeg", ZEROS, want) == ""
    assert "1 of 3" in verdict("diopiNeg", np.abs(ZEROS), want)
    assert "1 of 3" in verdict("diopiNeg", float32_to_bfloat16(np.abs(ZEROS)), want, "bfloat16")


def test_sums_have_either_zero() -> None:
    assert verdict("diopiSum", np.abs(ZEROS), Expected(ZEROS.astype(np.longdouble))) == ""


def test_results_that_round_to_zero_keep_their_sign() -> None:
    tiny = Expected(np.longdouble([-1e-300]))
    assert verdict("diopiMul", np.float32([-0.0]), tiny) == ""
    assert "got 0.000" in verdict("diopiMul", np.float32([0.0]), tiny)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_reference_says_where_either_zero_is_right(dtype: str) -> None:
    want = Expected(np.longdouble([0, 0]), either_zero=[True, False])

    def stored(values: list[float]) -> np.ndarray:
        array = np.float32(values)
        return array if dtype == "float32" else float32_to_bfloat16(array)

    assert verdict("diopiRelu", stored([-0.0, 0]), want, dtype) == ""
    assert "1 of 2" in verdict("diopiRelu", stored([-0.0, -0.0]), want, dtype)


def test_complex_zeros_have_the_signs_of_their_parts() -> None:
    want = Expected(np.clongdouble([complex(0.0, -0.0)]))
    right, wrong = np.complex64([complex(0.0, -0.0)]), np.complex64([0])
    assert verdict("diopiConj", right, want, "complex64") == ""
    assert verdict("diopiConj", wrong, want, "complex64")


def test_the_operators_that_are_named_are_there() -> None:
    known = set(load())
    assert known >= EITHER_ZERO
    assert not EITHER_ZERO & SIGNED_ZEROS
    assert all(load()[x].op_class == "exact" for x in EITHER_ZERO)
    assert all(load()[x].op_class != "exact" for x in SIGNED_ZEROS & known)
    assert known >= SIGNED_ZEROS


def test_strides_that_share_memory_are_wrong() -> None:
    assert check_strides((4, 1), (3, 4), None) is None
    assert check_strides((1, 3), (3, 4), None) is None
    assert check_strides((8, 2), (3, 4), None) is None
    assert check_strides((0, 0), (1, 1), None) is None
    assert check_strides((0, 1), (0, 4), None) is None
    assert "share memory" in str(check_strides((0, 1), (3, 4), None))
    assert "share memory" in str(check_strides((3, 1), (3, 4), None))


def test_strides_that_the_contract_names_are_compared() -> None:
    assert check_strides((4, 1), (3, 4), (4, 1)) is None
    assert check_strides((9, 1), (1, 4), (4, 1)) is None
    fault = check_strides((1, 3), (3, 4), (4, 1))
    assert fault == Fault(FaultKind.STRIDES, "strides are (1, 3), want (4, 1)")


def test_memory_formats_name_strides() -> None:
    shape = (2, 3, 4, 5)
    row_major = (60, 20, 5, 1)
    assert in_format(0, shape, (1, 2, 6, 24)) == row_major
    assert in_format(1, shape, row_major) == (60, 1, 15, 3)
    assert in_format(2, (2, 3, 2, 4, 5), ()) == (120, 1, 60, 15, 3)
    assert in_format(4, (2, 3, 5), ()) == (15, 1, 3)
    assert in_format(3, shape, (1, 2, 6, 24)) == (1, 2, 6, 24)
    assert in_format(3, shape, (2, 4, 12, 48)) == row_major
    assert in_format(3, shape, (0, 20, 5, 1)) == row_major
