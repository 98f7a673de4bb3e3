"""Tensors of dl in queues and pipes: both processes share the memory, for as long as either uses
it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.multiprocessing as mp
from core.processes import RUNS_ONCE, VENDORS, output
from torch import nn

from dl_core import _C

from .programs import sharing

SPAWN = mp.get_context("spawn")
LARGE = 1 << 20


class Other:
    """A process that runs the functions of sharing.py."""

    def __init__(self) -> None:
        self.inbox, self.outbox = SPAWN.SimpleQueue(), SPAWN.SimpleQueue()
        self.process = SPAWN.Process(target=sharing.serve, args=(self.inbox, self.outbox))
        self.process.start()

    def __call__(self, function: Callable[..., Any], *arguments: Any) -> Any:
        self.inbox.put((function.__name__, arguments))
        said, answer = self.outbox.get()
        if said == "raised":
            raise RuntimeError(answer)
        return answer

    def end(self) -> None:
        if self.process.is_alive():
            self.inbox.put(None)
        self.process.join()


@pytest.fixture(scope="module")
def other() -> Iterator[Other]:
    started = Other()
    yield started
    started.end()


def used() -> int:
    gc.collect()
    torch.dl.ipc_collect()
    return int(torch.dl.memory_allocated())


TENSORS: dict[str, Callable[[], torch.Tensor]] = {
    "whole": lambda: torch.arange(6.0, device="dl").reshape(2, 3),
    "view": lambda: torch.arange(24.0, device="dl").reshape(4, 6)[1:3, ::2].t(),
    "parameter": lambda: nn.Parameter(torch.ones(3, device="dl")),
    "empty": lambda: torch.empty(0, 3, device="dl"),
    "bfloat16": lambda: torch.ones(5, device="dl", dtype=torch.bfloat16),
}


@pytest.mark.parametrize("make", TENSORS.values(), ids=TENSORS)
def test_a_tensor_arrives_as_it_is(other: Other, make: Callable[[], torch.Tensor]) -> None:
    tensor = make()
    other(sharing.keep, "x", tensor)
    found = other(sharing.facts, "x")
    values = found.pop("values")
    assert values.dtype == tensor.dtype
    assert torch.equal(values, tensor.detach().cpu())
    assert found == {
        "type": type(tensor).__name__,
        "device": "dl:0",
        "stride": tensor.stride(),
        "requires_grad": tensor.requires_grad,
        "is_shared": True,
    }


def test_a_sparse_tensor_arrives(other: Other) -> None:
    tensor = torch.eye(3).to_sparse().to("dl")
    other(sharing.keep, "x", tensor)
    assert torch.equal(other(sharing.values, "x"), torch.eye(3))


def test_writes_are_seen_on_both_sides(other: Other) -> None:
    tensor = torch.zeros(2, 3, device="dl")
    other(sharing.keep, "x", tensor[1])
    other(sharing.add, "x", 2)
    assert tensor.tolist() == [[0, 0, 0], [2, 2, 2]]
    tensor.mul_(5)
    torch.dl.synchronize()
    assert other(sharing.values, "x").tolist() == [10, 10, 10]


def test_what_was_enqueued_before_is_seen(other: Other) -> None:
    tensor = torch.zeros(LARGE, device="dl")
    for _ in range(50):
        tensor.add_(1)
    other(sharing.keep, "x", tensor)
    assert torch.equal(other(sharing.values, "x"), torch.full((LARGE,), 50.0))


def test_tensors_of_one_storage_stay_together(other: Other) -> None:
    whole = torch.zeros(8, device="dl")
    other(sharing.keep, "a", whole[:5])
    other(sharing.keep, "b", whole[3:])
    other(sharing.add, "a", 1)
    assert other(sharing.values, "b").tolist() == [1, 1, 0, 0, 0]


def test_modules_are_sent(other: Other) -> None:
    torch.manual_seed(0)
    module = nn.Linear(4, 2).to("dl")
    other(sharing.keep, "m", module)
    given = torch.randn(3, 4)
    torch.testing.assert_close(other(sharing.call, "m", given), module(given.to("dl")).cpu())
    with torch.no_grad():
        module.bias.add_(1)
    torch.testing.assert_close(other(sharing.call, "m", given), module(given.to("dl")).cpu())


def test_what_the_other_process_made_comes_back(other: Other) -> None:
    received = other(sharing.create, 7)
    assert received.device.type == "dl"
    assert received.tolist() == list(range(7))
    assert received.add_(1).tolist() == list(range(1, 8))


def test_the_other_thread_of_a_queue_sends_too() -> None:
    queue = SPAWN.Queue()
    tensor = torch.arange(3.0, device="dl")
    queue.put(tensor)
    assert queue.get().data_ptr() == tensor.data_ptr()
    queue.close()
    queue.join_thread()


def test_memory_lives_as_long_as_somebody_uses_it(other: Other) -> None:
    other(sharing.drop_all)
    before = used()
    tensor = torch.full((LARGE,), 3.0, device="dl")
    other(sharing.keep, "x", tensor)
    del tensor
    gc.collect()
    others = [torch.full((LARGE,), 7.0, device="dl") for _ in range(4)]
    torch.dl.empty_cache()
    assert torch.equal(other(sharing.values, "x"), torch.full((LARGE,), 3.0))
    other(sharing.drop_all)
    del others
    assert used() == before


def test_the_receiver_gives_memory_back(other: Other) -> None:
    other(sharing.keep, "x", torch.zeros(LARGE, device="dl"))
    other(sharing.drop_all)
    before = other(sharing.allocated)
    for _ in range(3):
        other(sharing.keep, "x", torch.zeros(LARGE, device="dl"))
        other(sharing.drop_all)
    assert other(sharing.allocated) == before


def test_memory_of_a_killed_receiver_is_freed() -> None:
    before = used()
    killed = Other()
    tensor = torch.zeros(LARGE, device="dl")
    killed(sharing.keep, "x", tensor)
    killed.inbox.put((sharing.die.__name__, ()))
    killed.end()
    assert killed.process.exitcode == -9
    del tensor
    assert used() == before


def test_a_sender_that_has_ended_is_named() -> None:
    queue = SPAWN.SimpleQueue()
    sender = SPAWN.Process(target=sharing.send_and_end, args=(queue,))
    sender.start()
    sender.join()
    assert sender.exitcode == 0
    words = rf"(?s)a tensor of 16 bytes.*process {sender.pid}.*has ended.*x\.cpu\(\)"
    with pytest.raises(RuntimeError, match=words):
        queue.get()


def test_what_was_received_is_not_sent_on(other: Other) -> None:
    other(sharing.keep, "x", torch.ones(4, device="dl"))
    with pytest.raises(RuntimeError, match=r"received from another process.*x\.clone\(\)"):
        other(sharing.give_back, "x")


def test_the_same_process_gets_its_own_tensor() -> None:
    queue, before = SPAWN.SimpleQueue(), used()
    tensor = torch.arange(4.0, device="dl")
    queue.put(tensor)
    assert queue.get().data_ptr() == tensor.data_ptr()
    queue.put(tensor)
    del tensor
    gc.collect()
    with pytest.raises(RuntimeError, match="has freed it since; keep a reference to the tensor"):
        queue.get()
    assert used() == before


def test_a_process_with_another_vendor_gets_the_remedy(other: Other) -> None:
    tensor = torch.ones(4, dtype=torch.uint8, device="dl")
    message = _C.lend_storage(tensor)
    vendor = torch.dl.get_device_properties(0).vendor.encode()
    changed = message.replace(vendor + bytes(9), b"stranger" + bytes(len(vendor) + 1), 1)
    assert changed != message
    with pytest.raises(RuntimeError, match=r"of vendor stranger in process.*same DL_VENDORS"):
        other(sharing.borrow, changed)
    assert other(sharing.borrow, message).tolist() == [1, 1, 1, 1]


def test_bytes_that_are_no_message_are_refused() -> None:
    with pytest.raises(ValueError, match="a message of 3 bytes does not name a tensor"):
        _C.borrow_storage(b"abc")


def test_share_memory_changes_nothing() -> None:
    tensor = torch.ones(3, device="dl")
    assert tensor.is_shared()
    assert tensor.share_memory_() is tensor
    assert nn.Linear(2, 2).to("dl").share_memory().weight.is_shared()
    assert not torch.ones(3).is_shared()


FORKED = """
import torch
import torch.multiprocessing as mp

def receive(inbox, outbox):
    try:
        outbox.put(f"received {inbox.get()}")
    except RuntimeError as error:
        outbox.put(f"raised {error}")

context = mp.get_context("fork")
inbox, outbox = context.SimpleQueue(), context.SimpleQueue()
tensor = torch.ones(3, device="dl")
child = context.Process(target=receive, args=(inbox, outbox))
child.start()
inbox.put(tensor)
print(outbox.get())
child.join()
"""


@RUNS_ONCE
@pytest.mark.parametrize("vendor", VENDORS)
def test_a_forked_receiver_gets_the_remedy(vendor: str) -> None:
    said = output(FORKED, DL_VENDORS=vendor)
    assert said.startswith("raised [dl]")
    assert "spawn" in said


ALONE = """
import torch
from multiprocessing.reduction import ForkingPickler
x = torch.ones(3, device="dl")
assert not x.is_shared()
try:
    ForkingPickler.dumps(x)
except RuntimeError as error:
    print(error)
"""


@RUNS_ONCE
def test_a_vendor_that_shares_no_memory_is_named() -> None:
    said = output(ALONE, DL_VENDORS="onefile")
    assert "vendor onefile shares no memory between processes" in said
    assert "x.cpu()" in said
