"""Conversion of tensors from and to numpy, for accessible and inaccessible device memory."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest

from diopi_proto import ArgumentError, OutOfMemoryError, Vendor, load_vendor
from diopi_proto.dtypes import DTYPES
from diopi_proto.schema import load


@pytest.fixture(params=["vendor", "hidden"])
def any_vendor(request: pytest.FixtureRequest) -> Vendor:
    loaded: Vendor = request.getfixturevalue(request.param)
    return loaded


def _arrays() -> list[np.ndarray]:
    base = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    return [
        base,
        base.transpose(2, 0, 1),
        base[:, ::2, 1::2],
        np.broadcast_to(base[:, :1, :], (2, 5, 4)),
        base[:, ::-1],
        np.float32(7).reshape(()),
        np.empty((0, 3), np.float32),
        base[0, 0, 1:1],
    ]


@pytest.mark.parametrize("index", range(len(_arrays())))
def test_arrays_come_back_as_they_went(any_vendor: Vendor, index: int) -> None:
    array = _arrays()[index]
    tensor = any_vendor.tensor(array)
    assert tensor.shape == array.shape
    assert np.array_equal(tensor.numpy(), array)


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_comes_back(any_vendor: Vendor, name: str) -> None:
    storage = DTYPES[name].storage
    array = np.array([0, 1, 1], dtype=storage)
    tensor = any_vendor.tensor(array, name)
    assert tensor.dtype.name == name
    assert tensor.numpy().dtype == storage
    assert (tensor.numpy() == array).all()


def test_strides_are_kept_and_counted_in_elements(any_vendor: Vendor) -> None:
    array = np.zeros((4, 6), np.int16)[:, ::2].T
    assert any_vendor.tensor(array).strides == (2, 6)
    assert any_vendor.tensor(np.broadcast_to(np.int16(3), (2, 3))).strides == (0, 0)


def test_negative_strides_become_contiguous(any_vendor: Vendor) -> None:
    tensor = any_vendor.tensor(np.arange(6).reshape(2, 3)[::-1])
    assert tensor.strides == (3, 1)
    assert tensor.is_contiguous


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((2, 3), (3, 1), True),
        ((2, 3), (1, 2), False),
        ((1, 3), (99, 1), True),
        ((0, 3), (5, 7), True),
        ((), (), True),
        ((2, 3), (4, 1), False),
        ((2,), (0,), False),
    ],
)
def test_contiguity_ignores_what_has_one_element(
    vendor: Vendor, shape: tuple[int, ...], strides: tuple[int, ...], expected: bool
) -> None:
    assert vendor.empty(shape, strides=strides).is_contiguous is expected


def test_a_copy_does_not_follow_the_array(vendor: Vendor) -> None:
    array = np.zeros(3, np.float32)
    tensor = vendor.tensor(array)
    array[:] = 5
    assert (tensor.numpy() == 0).all()


def test_shared_memory_is_seen_from_both_sides(vendor: Vendor) -> None:
    array = np.zeros((4, 4), np.float32)
    tensor = vendor.tensor(array[::2, 1:], copy=False)
    vendor.op.Fill(tensor, 3)
    assert array.sum() == 3 * 6
    assert (array[::2, 1:] == 3).all()


def test_what_cannot_be_shared_is_copied_or_refused(vendor: Vendor, hidden: Vendor) -> None:
    constant = np.zeros(3, np.float32)
    constant.flags.writeable = False
    with pytest.raises(ArgumentError, match="read-only"):
        vendor.tensor(constant, copy=False)
    with pytest.raises(ArgumentError, match="converted"):
        vendor.tensor(np.zeros(3), "float32", copy=False)
    with pytest.raises(ArgumentError, match="negative"):
        vendor.tensor(np.zeros(3)[::-1], copy=False)
    with pytest.raises(ArgumentError, match="memory that it has allocated"):
        hidden.tensor(np.zeros(3), copy=False)
    array = np.zeros(3, np.float32)
    tensor = hidden.tensor(array, copy=None)
    hidden.op.Fill(tensor, 1)
    assert (array == 0).all()
    assert (tensor.numpy() == 1).all()


def test_numpy_copies_unless_asked_not_to(vendor: Vendor) -> None:
    tensor = vendor.tensor(np.zeros(3, np.float32))
    tensor.numpy()[:] = 1
    assert (tensor.numpy() == 0).all()
    tensor.numpy(copy=False)[:] = 1
    assert (tensor.numpy() == 1).all()


def test_hidden_memory_has_no_view(hidden: Vendor) -> None:
    with pytest.raises(ValueError, match="cannot access"):
        hidden.tensor(np.zeros(3)).numpy(copy=False)


def test_writing_leaves_what_lies_between_the_elements(any_vendor: Vendor) -> None:
    whole = any_vendor.tensor(np.zeros(6, np.float32))
    part = whole.as_strided((3,), (2,), 1)
    part.copy_from([1, 2, 3])
    assert whole.numpy().tolist() == [0, 1, 0, 2, 0, 3]
    with pytest.raises(ValueError, match="broadcast"):
        part.copy_from([1, 2])


def test_views_must_stay_inside_the_storage(vendor: Vendor) -> None:
    whole = vendor.tensor(np.zeros(6, np.float32))
    assert whole.as_strided((2, 3)).numpy().shape == (2, 3)
    for arguments in [((7,),), ((2, 3), (3, 2)), ((1,), (1,), 6)]:
        with pytest.raises(ValueError, match="the storage has 24"):
            whole.as_strided(*arguments)
    for arguments in [((2,), (-1,), 3), ((2, 3), (1,)), ((2,), (1,), -1)]:
        with pytest.raises(ValueError, match=r"negative|lengths"):
            whole.as_strided(*arguments)


def test_bfloat16_is_rounded_stored_as_bits_and_read_as_float32(any_vendor: Vendor) -> None:
    tensor = any_vendor.tensor(np.array([1.0, 1.0 + 2**-8]), "bfloat16")
    assert tensor.numpy().tolist() == [0x3F80, 0x3F80]
    assert tensor.float32().tolist() == [1.0, 1.0]
    assert any_vendor.tensor(tensor.numpy(), "bfloat16").float32().tolist() == [1.0, 1.0]


def test_host_tensors_belong_to_no_device(hidden: Vendor) -> None:
    tensor = hidden.tensor([1.0, 2.0], device=None)
    assert tensor.device is None
    assert tensor.numpy(copy=False).tolist() == [1.0, 2.0]


def test_wrong_requests_name_the_value(vendor: Vendor) -> None:
    with pytest.raises(ArgumentError, match="float8"):
        vendor.empty((2,), "float8")
    with pytest.raises(ArgumentError, match="no device 2; its number of devices is 2"):
        vendor.empty((2,), device=2)
    with pytest.raises(ArgumentError, match="no device -1"):
        vendor.tensor([1.0], device=-1)
    with pytest.raises(ArgumentError, match="negative"):
        vendor.empty((2, -1))
    with pytest.raises(ArgumentError, match="lengths"):
        vendor.empty((2, 2), strides=(1,))
    with pytest.raises(ArgumentError, match="complex32"):
        vendor.tensor([1.0], "complex32")


def test_out_of_memory_is_an_error_of_its_own(vendor: Vendor) -> None:
    with pytest.raises(OutOfMemoryError, match=r"\[memory_allocate\] 4294967296 bytes") as caught:
        vendor.empty((1 << 30,), "float32")
    assert caught.value.code == 3
    assert caught.value.operation == "aligned new"
    assert isinstance(caught.value, MemoryError)


def test_errors_release_their_status(vendor: Vendor, counters: type) -> None:
    for _ in range(3):
        with pytest.raises(OutOfMemoryError):
            vendor.empty((1 << 30,), "float32")
    assert counters(vendor.path).statuses == 0


def test_memory_lives_as_long_as_its_last_view(library: Path, counters: type) -> None:
    vendor = load_vendor(library)
    count = counters(library)
    tensor = vendor.tensor(np.arange(5, dtype=np.float32))
    array, part = tensor.numpy(copy=False), tensor.as_strided((2,), (2,))
    del tensor
    gc.collect()
    assert count.blocks == 1
    assert part.numpy().tolist() == [0, 2]
    del part
    gc.collect()
    assert count.blocks == 1
    assert array.tolist() == [0, 1, 2, 3, 4]
    del array
    gc.collect()
    assert count.blocks == 0


def test_sparse_tensors_hold_their_parts(vendor: Vendor, hidden: Vendor) -> None:
    parts = [vendor.tensor(x) for x in ([0, 1, 2], [0, 1], [1.0, 2.0])]
    sparse = vendor.sparse_csr(*parts, (2, 2))
    assert sparse.is_sparse
    assert sparse.shape == (2, 2)
    assert list(sparse.parts.items()) == list(
        zip(("crow_indices", "col_indices", "values"), parts, strict=True)
    )
    assert not parts[0].parts
    with pytest.raises(ValueError, match="sparse CSR"):
        sparse.numpy()
    with pytest.raises(ArgumentError, match="col_indices"):
        vendor.sparse_csr(parts[0], hidden.tensor([0, 1]), parts[2], (2, 2))
    with pytest.raises(ValueError, match="write to its three parts"):
        sparse.copy_from([[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("crow", "col", "shape", "message"),
    [
        ([0, 1], [0, 1], (2, 2), r"crow_indices: .* expected 3 elements for 2 rows"),
        ([0, 1, 2], [0], (2, 2), r"col_indices: .* expected as many elements as values, 2"),
        ([0.0, 1.0, 2.0], [0, 1], (2, 2), r"crow_indices: .* expected a tensor of int32 or int64"),
        ([0, 1, 2], [0.0, 1.0], (2, 2), r"col_indices: .* expected a tensor of int64, like crow"),
        ([[0, 1, 2]], [0, 1], (2, 2), r"crow_indices: .* expected a dense tensor with one dim"),
        ([0, 1, 2], [0, 1], (2,), r"shape: got \(2,\), expected rows and columns"),
        ([0, 1, 2], [0, 1], (-2, 2), r"\[sparse_csr\] .*-2"),
    ],
)
def test_parts_of_a_sparse_tensor_have_to_fit(
    vendor: Vendor, crow: list[int], col: list[int], shape: tuple[int, ...], message: str
) -> None:
    parts = [vendor.tensor(x) for x in (crow, col, [1.0, 2.0])]
    with pytest.raises(ArgumentError, match=message):
        vendor.sparse_csr(*parts, shape)


def test_operators_get_the_layout_that_the_schema_gives_them(vendor: Vendor) -> None:
    """A sparse tensor has no elements; an operator that reads them would read arbitrary memory."""
    sparse = vendor.sparse_csr(*(vendor.tensor(x) for x in ([0, 1, 2], [0, 1], [1.0, 2.0])), (2, 2))
    dense, out = vendor.tensor([[1.0, 2.0], [3.0, 4.0]]), vendor.empty((2, 2), "float64")
    dense_only = r"expected a tensor that is not sparse; convert it to a strided tensor"
    for call in (
        lambda: vendor.op.Relu(out, sparse),
        lambda: vendor.op.Relu(sparse, dense),
        lambda: vendor.op.Add(out, dense, sparse, 1),
    ):
        with pytest.raises(ArgumentError, match=rf"got Tensor\(.*sparse CSR.*\), {dense_only}"):
            call()
    with pytest.raises(ArgumentError, match=r"tensors\[1\]: .* not sparse"):
        vendor.op.Cat(out, [dense, sparse], 0)
    takes = {
        name: parameter.name
        for name, operator in load().items()
        for parameter in operator.params
        if parameter.layout == "csr"
    }
    assert takes == {"diopiSpMM": "input"}
