"""Copy-on-write: lazy copies share memory until either is written, by any operator."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch

Write = Callable[[torch.Tensor], object]


def is_shared(tensor: torch.Tensor) -> bool:
    return bool(torch._C._is_cow_tensor(tensor))


def address(tensor: torch.Tensor) -> int:
    return int(torch._C._data_address(tensor))


def pair() -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.arange(12.0, device="dl").reshape(3, 4)
    return x, torch._lazy_clone(x)


def test_a_lazy_copy_shares_memory_and_reads_leave_it_shared() -> None:
    x, y = pair()
    assert is_shared(x) and is_shared(y) and address(x) == address(y)
    assert torch.equal(x + 1, y + 1) and torch.equal(x.t() @ x, y.t() @ y)
    assert y.sum().item() == 66 and y.cpu().tolist() == x.cpu().tolist()
    assert torch.linalg.eigvals(y[:3, :3]).shape == (3,)  # computed on the CPU
    assert is_shared(x) and is_shared(y)


WRITES: dict[str, Write] = {
    "in place": lambda x: x.add_(1),
    "through a view": lambda x: x[1:].mul_(2),
    "fill": lambda x: x.zero_(),
    "copy within the device": lambda x: x.copy_(torch.ones(3, 4, device="dl")),
    "copy from the host": lambda x: x.copy_(torch.ones(3, 4)),
    "copy with another dtype": lambda x: x.copy_(torch.ones(3, 4, dtype=torch.float64)),
    "copy into a transposed view": lambda x: x.t().copy_(torch.ones(4, 3)),
    "as an output": lambda x: torch.add(torch.ones(3, 4, device="dl"), 1, out=x),
    "as an output of a product": lambda x: torch.mm(
        torch.ones(3, 2, device="dl"), torch.ones(2, 4, device="dl"), out=x
    ),
    "by indices": lambda x: x.index_put_((torch.tensor([0], device="dl"),), x[1] + 1),
    "random": lambda x: x.uniform_(),
    "on the CPU in place": lambda x: x.erfinv_(),
    "on the CPU as an output": lambda x: torch.special.erfcx(torch.ones(3, 4, device="dl"), out=x),
    "list of tensors": lambda x: torch._foreach_add_([x], 1),
    "optimizer": lambda x: torch._fused_sgd_(
        [x],
        [torch.ones_like(x)],
        [],
        weight_decay=0.0,
        momentum=0.0,
        lr=0.1,
        dampening=0.0,
        nesterov=False,
        maximize=False,
        is_first_step=True,
    ),
}


@pytest.mark.parametrize("first", [True, False], ids=["original", "copy"])
@pytest.mark.parametrize("name", WRITES)
def test_a_write_to_one_leaves_the_other(name: str, first: bool) -> None:
    x, y = pair()
    written, other = (x, y) if first else (y, x)
    before, plain = other.cpu(), torch.arange(12.0, device="dl").reshape(3, 4)
    for target in (written, plain):
        torch.manual_seed(0)
        WRITES[name](target)
    assert torch.equal(other.cpu(), before) and is_shared(other)
    torch.testing.assert_close(written, plain, equal_nan=True)
    assert not is_shared(written) and address(written) != address(other)


def test_the_last_one_takes_the_memory_without_a_copy() -> None:
    x, y = pair()
    kept = address(x)
    del x
    y.add_(1)
    assert address(y) == kept and not is_shared(y)
    assert y.flatten().tolist() == list(range(1, 13))


def test_an_operator_that_reads_one_and_writes_the_other() -> None:
    x, y = pair()
    torch.mul(x, 2, out=y)
    torch.special.erfcx(y, out=x)
    assert y.flatten().tolist() == [2.0 * i for i in range(12)]
    torch.testing.assert_close(x.cpu(), torch.special.erfcx(y.cpu()))


def test_copies_of_copies_part_one_by_one() -> None:
    x, y = pair()
    z = torch._lazy_clone(y)
    z += 1
    y += 2
    x += 3
    assert [int(t[0, 0]) for t in (x, y, z)] == [3, 2, 1]
    assert not any(map(is_shared, (x, y, z)))


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0, 3)])
def test_tensors_of_any_size(shape: tuple[int, ...]) -> None:
    x = torch.ones(shape, device="dl")
    y = torch._lazy_clone(x)
    y.add_(1)
    assert torch.equal(x.cpu(), torch.ones(shape)) and torch.equal(y.cpu(), torch.full(shape, 2.0))


def test_a_copy_of_a_view_is_one() -> None:
    x = torch.arange(12.0, device="dl").reshape(3, 4)
    y = torch._lazy_clone(x.t()[1:])
    assert y.shape == (3, 3) and y.stride() == (1, 4) and y.storage_offset() == 1
    y.zero_()
    assert x.sum().item() == 66 and y.sum().item() == 0


def test_a_copy_that_grows_leaves_the_memory_to_the_others() -> None:
    x, y = pair()
    y.resize_(100).fill_(1)
    assert x.sum().item() == 66 and y.sum().item() == 100


def test_gradients_flow_through_a_copy() -> None:
    x = torch.arange(3.0, device="dl", requires_grad=True)
    (torch._lazy_clone(x) * torch.tensor([1.0, 2.0, 3.0], device="dl")).sum().backward()
    assert x.grad.tolist() == [1, 2, 3]


def test_memory_is_counted_once_and_given_back() -> None:
    def requested_bytes() -> int:
        bytes_asked: int = torch.dl.memory_stats()["requested_bytes.all.current"]
        return bytes_asked

    gc.collect()
    before = requested_bytes()
    x = torch.ones(1 << 20, device="dl")
    copies = [torch._lazy_clone(x) for _ in range(3)]
    assert requested_bytes() - before == x.nbytes
    copies[0].zero_()
    assert requested_bytes() - before == 2 * x.nbytes
    del x, copies
    assert requested_bytes() == before


def test_a_stream_that_uses_a_copy_is_remembered() -> None:
    x, y = pair()
    stream = torch.dl.Stream() if hasattr(torch.dl, "Stream") else torch.Stream("dl")
    y.record_stream(stream)
    stream.synchronize()
    assert torch.equal(x, y)


def test_memory_taken_over_from_the_cpu_is_shared_too() -> None:
    """The result of a fallback uses the CPU's memory if the vendor supports that."""
    x = torch.linalg.eigvals(torch.diag(torch.tensor([1.0, 2.0], device="dl")))
    y = torch._lazy_clone(x)
    y.zero_()
    assert x.real.sort().values.tolist() == [1, 2] and y.real.tolist() == [0, 0]


@pytest.mark.devices(2)
def test_a_writer_gets_memory_of_its_own_device() -> None:
    x = torch.arange(4.0, device="dl:1")
    y = torch._lazy_clone(x)
    with torch.dl.device(0):
        y.add_(1)
    assert y.device.index == 1 and y.tolist() == [1, 2, 3, 4] and x.tolist() == [0, 1, 2, 3]


def test_copies_may_outlive_the_interpreter() -> None:
    code = """
import torch
x = torch.ones(4, device="dl")
kept = [torch._lazy_clone(x) for _ in range(3)]
torch.kept = kept
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
