"""Bools with bytes other than 0 and 1, as in views of integers: every byte except 0 is true."""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

from dl_torch_tests.opinfo.operators import UNINITIALISED, full_name
from dl_torch_tests.opinfo.relocate import Relocation
from dl_torch_tests.opinfo.sweep import Arguments, Outcome, describe, run, samples_of, tensors_of

pytestmark = pytest.mark.filterwarnings("ignore")

BYTES = torch.tensor([2, 255, 128, 3, 254, 64, 17], dtype=torch.uint8)
SAMPLES = 1000 if os.environ.get("DL_TEST_SAMPLE") == "1" else 4


def odd(shape: tuple[int, ...] = (3,)) -> torch.Tensor:
    """Return True, True, False, …, where true bytes are not 1."""
    values = torch.tensor([2, 3, 0], dtype=torch.uint8).expand(*shape[:-1], 3)
    return values.contiguous().to("dl").view(torch.bool)


def test_reductions_count_each_once() -> None:
    mask = odd()
    assert mask.sum().item() == 2
    assert mask.float().tolist() == [1, 1, 0]
    assert mask.any().item() is True and mask.all().item() is False
    assert torch.count_nonzero(mask).item() == 2
    assert mask.cumsum(0).tolist() == [1, 2, 2]
    assert mask.nonzero().tolist() == [[0], [1]]
    assert mask.max().item() is True


def test_masks_choose_each_once() -> None:
    mask, x = odd(), torch.arange(3, device="dl")
    assert x[mask].tolist() == [0, 1]
    assert x.masked_select(mask).tolist() == [0, 1]
    assert torch.where(mask, x, -1).tolist() == [0, 1, -1]
    assert x.masked_fill(mask, 9).tolist() == [9, 9, 2]
    x[mask] = 7
    assert x.tolist() == [7, 7, 2]


def test_numbers_read_by_the_host_are_bools() -> None:
    mask = odd()
    for element in (mask[0], mask[1].clone()):
        assert element.item() is True
        assert bool(element) is True
        assert int(element) == 1
    host = mask.cpu()[0]
    assert (torch.ones(2, device="dl") + host).tolist() == [2, 2]
    assert torch.where(host, torch.ones(2, device="dl"), 0.0).tolist() == [1, 1]


def test_what_is_computed_holds_0_and_1() -> None:
    mask = odd()
    for result in (~mask, mask & mask, mask | mask, mask ^ ~mask, mask == mask, mask.logical_not()):
        assert int(result.view(torch.uint8).max()) <= 1


def test_views_of_strided_bytes_are_read_alike() -> None:
    wide = odd((4, 3)).t()
    assert wide.sum(0).tolist() == [2, 2, 2, 2]
    assert wide.sum(1).tolist() == [4, 4, 0]
    assert wide[::2].any(1).tolist() == [True, False]


def with_bools(op: Any) -> list[tuple[torch.dtype, Arguments]]:
    """Return some samples with bools among their tensors: as operands, and as masks of operands."""
    found: list[tuple[torch.dtype, Arguments]] = []
    for dtype in (torch.bool, torch.float32):
        if dtype not in op.dtypes:
            continue
        samples = [
            sample
            for sample in samples_of(op, dtype)
            if any(tensor.dtype == torch.bool and tensor.numel() for tensor in tensors_of(sample))
        ]
        step = -(-len(samples) // SAMPLES) if samples else 1
        found += [(dtype, sample) for sample in samples[::step]]
    return found


def on_device(original: Arguments, *, other_bytes: bool) -> Arguments:
    relocation = Relocation("dl")
    moved: Arguments = relocation(original)
    for storage in relocation.storages():
        if other_bytes and storage.dtype == torch.bool:
            raw = storage.view(torch.uint8)
            raw.mul_(BYTES.repeat(-(-raw.numel() // BYTES.numel()))[: raw.numel()].to("dl"))
    return moved


def values(outcome: Outcome) -> list[Any]:
    found: list[Any] = []
    for value in outcome.values():
        if isinstance(value, torch.Tensor):
            value = value.detach()
            value = value.to_dense() if value.layout != torch.strided else value
            value = value.resolve_conj().resolve_neg().cpu()
            value = (
                value.contiguous().view(torch.uint8) != 0 if value.dtype == torch.bool else value
            )
        found.append(value)
    return found


def same(left: Any, right: Any) -> bool:
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        return left.shape == right.shape and torch.allclose(left, right, 0, 0, equal_nan=True)
    return bool(left == right) or (left != left and right != right)


OPERATORS = [op for op in op_db if op.name.split(".")[-1] not in UNINITIALISED]


@pytest.mark.sampled(0.2)
@pytest.mark.parametrize("op", [pytest.param(op, id=full_name(op)) for op in OPERATORS])
def test_operators_do_not_tell_the_bytes_apart(op: Any) -> None:
    def call(arguments: Arguments) -> Any:
        first, args, kwargs = arguments
        return op.op(first, *args, **kwargs)

    for dtype, sample in with_bools(op):
        want = run(call, on_device(sample, other_bytes=False))
        got = run(call, on_device(sample, other_bytes=True))
        shown = f"{full_name(op)} {dtype} {describe(sample)}"
        assert (got.error is None) == (want.error is None), f"{shown}: {got.error or want.error}"
        if want.error is None:
            pairs = zip(values(got), values(want), strict=True)
            assert all(same(*pair) for pair in pairs), shown
