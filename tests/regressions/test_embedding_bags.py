"""Embedding bags with unusual offsets: no bags, empty ones, indices after the last bag."""

from __future__ import annotations

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional

MODES = ("sum", "mean", "max")
DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def long(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.int64, device="dl")


def table(dtype: torch.dtype = torch.float32) -> torch.Tensor:
    rows = torch.arange(45, dtype=torch.float64).view(9, 5).sin()
    return rows.to(dtype).to("dl").requires_grad_()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_no_bags_give_no_rows_and_a_gradient_of_zeros(
    dtype: torch.dtype, mode: str, last: bool, sparse: bool
) -> None:
    if sparse and mode == "max":
        pytest.skip("torch has no sparse gradient of maxima")
    weight, offsets = table(dtype), long(0) if last else long()
    result = functional.embedding_bag(
        long(0, 1, 2), weight, offsets, mode=mode, include_last_offset=last, sparse=sparse
    )
    assert result.shape == (0, 5)
    result.sum().backward()
    assert weight.grad is not None
    grad = weight.grad.to_dense() if sparse else weight.grad
    assert grad.shape == weight.shape
    assert grad.count_nonzero() == 0


@pytest.mark.parametrize("mode", MODES)
def test_bags_without_indices_are_zeros(mode: str) -> None:
    weight = table()
    result = functional.embedding_bag(long(), weight, long(0, 0, 0), mode=mode)
    assert result.tolist() == [[0.0] * 5] * 3
    result.sum().backward()
    assert weight.grad is not None
    assert weight.grad.count_nonzero() == 0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sparse", [False, True])
def test_the_last_offset_ends_the_last_bag(mode: str, weighted: bool, sparse: bool) -> None:
    """Indices after it belong to no bag, get no gradient, and have no effect."""
    if (weighted and mode != "sum") or (sparse and mode == "max"):
        pytest.skip("torch has no such bags")
    found = []
    for ids in ((0, 4, 4, 2, 7, 8), (0, 4, 4, 2)):
        weight = table()
        factors = torch.ones(len(ids), device="dl").mul(3).requires_grad_() if weighted else None
        result = functional.embedding_bag(
            long(*ids),
            weight,
            long(0, 1, 1, 4),
            mode=mode,
            include_last_offset=True,
            per_sample_weights=factors,
            sparse=sparse,
        )
        result.exp().sum().backward()
        assert weight.grad is not None
        found.append((result, weight.grad.to_dense() if sparse else weight.grad))
        if factors is not None:
            assert factors.grad is not None
            found[-1] += (factors.grad[:4],)
            assert factors.grad[4:].count_nonzero() == 0
    for all_ids, used in zip(*found, strict=True):
        assert torch.equal(all_ids, used)


@pytest.mark.parametrize("mode", [0, 1, 2], ids=MODES)
@pytest.mark.parametrize(
    ("offsets", "last"), [((0, 2), False), ((0, 2, 3), True), ((), False), ((0,), True)]
)
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32], ids=str)
def test_results_have_the_shapes_and_dtypes_of_fake_tensors(
    mode: int, offsets: tuple[int, ...], last: bool, dtype: torch.dtype
) -> None:
    arguments = (table().detach(), long(0, 1, 2).to(dtype), long(*offsets).to(dtype))
    call = torch.ops.aten._embedding_bag
    got = call(*arguments, False, mode, False, None, last)
    with FakeTensorMode() as fake:
        want = call(*map(fake.from_tensor, arguments), False, mode, False, None, last)
    assert [(x.shape, x.dtype) for x in got] == [(x.shape, x.dtype) for x in want]


def test_a_missing_last_offset_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"include_last_offset .* offsets is empty; give"):
        functional.embedding_bag(long(0, 1), table(), long(), include_last_offset=True)
