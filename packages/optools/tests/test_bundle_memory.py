"""Storage of tensors in bundles: layout, aliasing, and no unreachable memory."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from bundle_cases import bundles, captured, files
from dl_optools.bundle import Bundle
from dl_optools.bundle.placement import Placement

CPU = torch.device("cpu")


def arguments(bundle: Bundle) -> tuple[torch.Tensor, ...]:
    args, _ = Placement(bundle, CPU).arguments()
    return args


def same(one: torch.Tensor, two: torch.Tensor) -> bool:
    return (
        one.dtype == two.dtype
        and one.shape == two.shape
        and one.stride() == two.stride()
        and one.is_conj() == two.is_conj()
        and one.is_neg() == two.is_neg()
        and torch.equal(one, two)
    )


DTYPES = [
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.complex64,
    torch.complex128,
    torch.int8,
    torch.uint8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.bool,
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_comes_back_bit_for_bit(dtype: torch.dtype, tmp_path: Path) -> None:
    tensor = torch.arange(-3, 4).to(dtype)
    (bundle,) = captured(lambda: tensor.clone(), tmp_path)
    (back,) = arguments(bundle)
    assert same(back, tensor)


def test_eight_bit_floats_come_back(tmp_path: Path) -> None:
    tensor = torch.arange(6.0).to(torch.float8_e4m3fn)
    (bundle,) = captured(lambda: tensor.to(torch.float32), tmp_path)
    assert arguments(bundle)[0].view(torch.uint8).equal(tensor.view(torch.uint8))


VIEWS = {
    "whole": lambda x: x,
    "transposed": lambda x: x.t(),
    "a column": lambda x: x[:, 2],
    "a part": lambda x: x[3:7, 1:3],
    "every third": lambda x: x[::3],
    "expanded": lambda x: x[:, :1].expand(-1, 9),
    "overlapping": lambda x: x.reshape(-1).as_strided((10, 5), (2, 1), 3),
    "empty": lambda x: x[4:4],
    "empty in the middle": lambda x: x[:, 2:2],
    "a number": lambda x: x[2, 3],
    "channels last": lambda x: x.view(1, 6, 4, 2).contiguous(memory_format=torch.channels_last),
    "conjugate": lambda x: torch.complex(x, x + 1).conj(),
    "imaginary of conjugate": lambda x: torch.complex(x, x + 1).conj().imag,
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
def test_views_come_back_with_their_strides(view, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    tensor = view(torch.randn(12, 4))
    (bundle,) = captured(lambda: torch.add(tensor, 1), tmp_path)
    assert same(arguments(bundle)[0], tensor)
    assert same(Placement(bundle, CPU).tensor(bundle.document.results[0].tensor), tensor + 1)


def stored(directory: Path) -> int:
    return sum(path.stat().st_size for path in files(directory / "store"))


def test_only_the_reached_part_of_a_storage_is_stored(tmp_path: Path) -> None:
    big = torch.randn(1000, 1000)
    corner, column = big[10:12, :5], big[:, 3]
    captured(lambda: corner.sum(), tmp_path / "corner")
    assert stored(tmp_path / "corner") < 500
    captured(lambda: column.sum(), tmp_path / "column")
    assert 4000 < stored(tmp_path / "column") < 4500


def test_a_gap_in_a_storage_preserves_strides(tmp_path: Path) -> None:
    big = torch.randn(100, 100)
    one, two = big[:, 3], big[:, 70]
    (dot,) = captured(lambda: torch.dot(one, two), tmp_path)
    left, right = arguments(dot)
    assert left.stride() == (100,)
    assert left.equal(big[:, 3])
    assert right.equal(big[:, 70])
    assert left.untyped_storage().data_ptr() == right.untyped_storage().data_ptr()
    assert stored(tmp_path) < 3 * 4 * 100 + 400


def test_tensors_that_share_memory_share_it_again(tmp_path: Path) -> None:
    base = torch.arange(10.0)
    one, two, three = base[:8], base[2:], base[1:9]
    (bundle,) = captured(lambda: torch.stack([one, two, three]), tmp_path)
    (tensors,) = arguments(bundle)
    tensors[0][2] = 77
    assert tensors[1][0] == 77
    assert tensors[2][1] == 77
    assert stored(tmp_path) < 2 * 40 + 3 * 32 + 300


def test_views_of_other_dtypes_share_memory_again(tmp_path: Path) -> None:
    raw = torch.arange(40, dtype=torch.uint8)
    wide, narrow = raw[8:32].view(torch.float64), raw[9:]
    (bundle,) = captured(lambda: torch.bucketize(narrow, wide), tmp_path)
    values, boundaries = arguments(bundle)
    assert values.equal(narrow)
    assert boundaries.equal(wide)
    values[7:15] = torch.tensor([1.5], dtype=torch.float64).view(torch.uint8)
    assert boundaries[1] == 1.5


def test_the_same_tensor_twice_is_one_object(tmp_path: Path) -> None:
    x = torch.ones(3)
    (bundle,) = captured(lambda: torch.mul(x, x), tmp_path)
    left, right = arguments(bundle)
    assert left is right


def test_equal_bytes_are_stored_once_across_calls(tmp_path: Path) -> None:
    weight = torch.randn(100, 100)

    def program() -> None:
        for _ in range(5):
            torch.relu(weight)
            torch.relu(weight.clone())

    captured(program, tmp_path)
    assert len(files(tmp_path / "store")) == 2


def test_sparse_tensors_come_back(tmp_path: Path) -> None:
    dense = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    coo = dense.to_sparse()
    (bundle,) = captured(lambda: coo.neg(), tmp_path / "coo")
    back = arguments(bundle)[0]
    assert back.layout == torch.sparse_coo
    assert back.is_coalesced()
    assert back.to_dense().equal(dense)
    with pytest.warns(UserWarning, match="beta"):
        csr = dense.to_sparse_csr()
    (bundle,) = captured(lambda: csr.to_dense(), tmp_path / "csr")
    back = arguments(bundle)[0]
    assert back.layout == torch.sparse_csr
    assert back.to_dense().equal(dense)


def test_gradients_are_asked_for_again(tmp_path: Path) -> None:
    leaf = torch.ones(3, requires_grad=True)
    inner = leaf * 2
    captured(lambda: torch.add(inner, leaf), tmp_path)
    one, two = arguments(bundles(tmp_path, "torch.add")[0])
    assert one.requires_grad
    assert not one.is_leaf
    assert two.requires_grad
    assert two.is_leaf
    one.mul_(2)
