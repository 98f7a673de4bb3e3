"""Products of sparse matrices."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Tensor, Vendor
from diopi_proto.host.cabi import constants
from dl_conformance.case import T
from dl_conformance.sparse import Csr
from suite import check_cases
from support import out_like


def csr(
    vendor: Vendor, crow: list[int], col: list[int], values: list[float], shape: tuple[int, int]
) -> Tensor:
    parts = (np.array(crow), np.array(col, np.int64), np.array(values, np.float64))
    return vendor.sparse_csr(*map(vendor.tensor, parts), shape)


def test_cases_of_the_suite(vendor: Vendor) -> None:
    check_cases(vendor, "diopiSpMM")


def test_what_is_not_held_is_not_multiplied(vendor: Vendor) -> None:
    matrix = csr(vendor, [0, 1, 1], [1], [2.0], (2, 2))
    dense, out = vendor.tensor(np.array([[np.inf], [3.0]])), out_like(vendor, (2, 1), "float64")
    vendor.op.SpMM(out, matrix, dense)
    assert out.numpy().tolist() == [[6], [0]]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [1, 63, 64, 65, 128, 200])
def test_products_of_every_width(vendor: Vendor, dtype: str, columns: int) -> None:
    random = np.random.default_rng(columns)
    matrix = random.integers(-3, 4, (9, 11)) * (random.random((9, 11)) < 0.4)
    crow = np.concatenate([[0], np.cumsum((matrix != 0).sum(1))])
    parts = (crow, matrix.nonzero()[1], matrix[matrix != 0].astype(dtype))
    dense = random.integers(-9, 10, (11, columns)).astype(dtype)
    out = out_like(vendor, (9, columns), dtype)
    left = vendor.sparse_csr(*map(vendor.tensor, parts), matrix.shape)
    vendor.op.SpMM(out, left, vendor.tensor(dense))
    assert np.array_equal(out.numpy(), matrix @ dense)


def test_columns_may_repeat_and_come_in_any_order(vendor: Vendor) -> None:
    matrix = csr(vendor, [0, 3], [2, 0, 2], [1.0, 10.0, 100.0], (1, 3))
    dense, out = vendor.tensor(np.eye(3)), out_like(vendor, (1, 3), "float64")
    vendor.op.SpMM(out, matrix, dense)
    assert out.numpy().tolist() == [[10, 0, 101]]


def test_the_suite_sees_what_changes_in_a_sparse_tensor(vendor: Vendor) -> None:
    held = Csr.of(T("3x4", csr="int32"), "key", "float32", "")
    for name in held._fields[:3]:
        tensor = held.place(vendor, "float32")
        assert held.is_in(tensor)
        part = tensor.parts[name]
        part.copy_from(part.numpy() + 1)
        assert not held.is_in(tensor), name


@pytest.mark.parametrize(
    ("crow", "col", "message"),
    [
        ([0, 1, 2], [0, 3], r"index 3 at position 1 is out of range \[0, 3\)"),
        ([0, 1, 2], [-1, 0], r"index -1 at position 0 is out of range"),
        ([1, 1, 2], [0, 1], r"1 at position 0 of crow_indices"),
        ([0, 3, 2], [0, 1], r"3 at position 1 of crow_indices: it must rise from 0 to 2"),
        ([0, -1, 2], [0, 1], r"-1 at position 1 of crow_indices"),
        ([0, 1, 1], [0, 1], r"1 at position 2 of crow_indices"),
    ],
)
def test_bad_rows_and_columns_are_reported(
    vendor: Vendor, crow: list[int], col: list[int], message: str
) -> None:
    dense, out = out_like(vendor, (3, 2), "float64"), out_like(vendor, (2, 2), "float64")
    with pytest.raises(OperatorError, match=message):
        vendor.op.SpMM(out, csr(vendor, crow, col, [1.0, 2.0], (2, 3)), dense)


class Unchecked(Tensor):
    """A tensor whose layout this host does not check, like DIOPI's own hosts."""

    def __init__(self, tensor: Tensor, *, is_sparse: bool) -> None:
        super().__init__(tensor.storage, tensor.dtype, tensor.shape, tensor.strides)
        self.handle, self.held, self.told = tensor.handle, tensor, is_sparse

    @property
    def is_sparse(self) -> bool:
        return self.told


def test_tensors_of_the_other_layout_are_declined_and_not_read(vendor: Vendor) -> None:
    matrix = csr(vendor, [0, 1, 2], [0, 1], [1.0, 2.0], (2, 2))
    dense, out = vendor.tensor(np.eye(2)), out_like(vendor, (2, 2), "float64")
    before = out.numpy()
    for arguments in (
        (matrix, Unchecked(matrix, is_sparse=False)),
        (Unchecked(dense, is_sparse=True), dense),
        (Unchecked(dense, is_sparse=True), Unchecked(matrix, is_sparse=False)),
    ):
        with pytest.raises(OperatorError) as caught:
            vendor.op.SpMM(out, *arguments)
        assert caught.value.code == constants.diopiNoImplement
    assert np.array_equal(out.numpy(), before)


def test_shapes_have_to_fit(vendor: Vendor) -> None:
    matrix = csr(vendor, [0, 1, 2], [0, 1], [1.0, 2.0], (2, 3))
    out = out_like(vendor, (2, 2), "float64")
    with pytest.raises(OperatorError, match=r"mat2 has the shape \[2, 2\]; it needs \[3, \*\]"):
        vendor.op.SpMM(out, matrix, out)
    with pytest.raises(OperatorError, match=r"out has the shape \[2, 2\]; it needs \[2, 4\]"):
        vendor.op.SpMM(out, matrix, out_like(vendor, (3, 4), "float64"))
