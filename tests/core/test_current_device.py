"""A vendor may assume that the device of a call is the thread's current device in its driver.

The two vendors here reject everything else: ``async`` has the host make devices current (the slot
``device_set``), ``onefile`` does it itself, with the kit, over a driver that checks every call.
"""

from __future__ import annotations

import pytest

from .processes import AFTER_BACKWARD, RUNS_ONCE, output

pytestmark = RUNS_ONCE

VENDORS = ("async", "onefile")

PREPARE = """
import threading
import torch

def everywhere(body, count=8):
    # Run in parallel threads, and raise the first exception of any thread.
    errors = []
    def run(number):
        try:
            body(number)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]

def ones(device):
    return torch.ones(3, 5).to(device)
"""


def run(vendor: str, code: str, **variables: str) -> str:
    return output(PREPARE + code, DL_VENDORS=vendor, **variables)


@pytest.fixture(params=VENDORS)
def vendor(request: pytest.FixtureRequest) -> str:
    """A vendor other than the vendor of this process."""
    return str(request.param)


def test_operators_run_on_the_device_of_their_tensors(vendor: str) -> None:
    run(
        vendor,
        """
x, y = ones("dl:0"), ones("dl:1")
for current in (0, 1, 0):
    torch.dl.set_device(current)
    with torch.dl.fallback("error"):
        for tensor in (x, y, x, y):
            doubled = torch.relu(tensor + tensor) * tensor
            assert torch.equal(doubled.cpu(), torch.full((3, 5), 2.0))
            assert (tensor @ tensor.t()).cpu()[0, 0] == 5
    assert torch.dl.current_device() == current
""",
    )


def test_each_thread_has_a_current_device_of_its_own(vendor: str) -> None:
    run(
        vendor,
        """
def work(number):
    for step in range(20):
        torch.dl.set_device(step % 2)
        device = f"dl:{(number + step // 3) % 2}"
        x = ones(device)
        with torch.dl.fallback("error"):
            y = torch.neg(x) + x * x
        assert y.device == torch.device(device)
        assert y.cpu().abs().sum() == 0

everywhere(work)
""",
    )


def test_autograd_threads_work_for_their_devices(vendor: str) -> None:
    run(
        vendor,
        """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, gradient):
        x, = ctx.saved_tensors
        # On the thread of x's device: work for the other one, too.
        other = ones(f"dl:{1 - x.get_device()}")
        assert (other + other).sum().item() == 30
        return gradient * x + gradient * x

def work(number):
    leaves = [ones(f"dl:{i}").requires_grad_() for i in (0, 1)]
    torch.dl.set_device(number % 2)
    loss = sum(Square.apply(leaf).mm(leaf.t()).sum().cpu() for leaf in leaves)
    loss.backward()
    for leaf in leaves:
        assert leaf.grad.device == leaf.device
        assert torch.equal(leaf.grad.cpu(), torch.full((3, 5), 9.0)), leaf.grad

work(0)
everywhere(work, 4)
"""
        + AFTER_BACKWARD,
    )


def test_fallbacks_copy_on_the_device_of_their_tensors(vendor: str) -> None:
    run(
        vendor,
        """
def work(number):
    torch.dl.set_device(number % 2)
    x = ones(f"dl:{1 - number % 2}")
    assert torch.equal(torch.lgamma(x + x).cpu(), torch.zeros(3, 5))
    x[1:].lerp_(x[:2].clone(), 0.5)
    assert x.cpu().sum() == 15 and (x.double() / 4).sum().item() == 3.75

work(0)
before = torch.dl.fallback_stats().totals["fallback"]
everywhere(work)
assert torch.dl.fallback_stats().totals["fallback"] > before
""",
    )


def test_memory_is_the_devices_own(vendor: str) -> None:
    run(
        vendor,
        """
MIB = 1 << 20
torch.dl.set_device(0)
free = [torch.dl.mem_get_info(i)[0] for i in (0, 1)]
x = torch.empty(8 * MIB, dtype=torch.uint8, device="dl:1")
assert torch.dl.mem_get_info(0)[0] == free[0]
assert torch.dl.mem_get_info(1)[0] == free[1] - torch.dl.memory_reserved(1)
assert torch.dl.memory_allocated(0) == 0 and torch.dl.memory_allocated(1) == 8 * MIB
x.resize_(12 * MIB)

def work(number):
    torch.dl.set_device(1 - number % 2)
    for size in range(1, 30):
        kept = torch.empty(size * 1000, device=f"dl:{number % 2}")
        torch.dl.empty_cache()

everywhere(work)
del x
torch.dl.set_device(0)
torch.dl.empty_cache()
assert [torch.dl.mem_get_info(i)[0] for i in (0, 1)] == free
""",
    )


def test_streams_and_events_are_the_devices_own(vendor: str) -> None:
    """Also the default stream, which has no handle that could name its device."""
    run(
        vendor,
        """
def work(number):
    mine, other = number % 2, 1 - number % 2
    torch.dl.set_device(other)
    x = ones(f"dl:{mine}")
    side = torch.dl.Stream(device=mine)
    side.wait_stream(torch.dl.default_stream(mine))
    start, end = torch.dl.Event(enable_timing=True), torch.dl.Event(enable_timing=True)
    for stream in (side, torch.dl.default_stream(mine)):
        with torch.dl.stream(stream):
            start.record(stream)
            y = x + x
            end.record(stream)
        torch.dl.set_device(other)
        end.synchronize()
        assert end.query() and start.elapsed_time(end) >= 0
        stream.synchronize()
        # Others have the default stream, too, and perhaps new work on it.
        assert stream.query() or stream != side
        torch.dl.default_stream(other).wait_event(end)
        y.record_stream(torch.dl.default_stream(mine))
        assert y.cpu().sum() == 30
        del y
    torch.dl.synchronize(mine)
    assert torch.dl.current_device() == other
    del start, end

everywhere(work)
""",
    )


def test_pinned_copies_and_copies_between_devices(vendor: str) -> None:
    run(
        vendor,
        """
host = torch.arange(12.0).reshape(3, 4).pin_memory()
torch.dl.set_device(0)
there = host.to("dl:1", non_blocking=True)
back = torch.empty_like(host, pin_memory=True).copy_(there, non_blocking=True)
torch.dl.synchronize(1)
assert torch.equal(back, host)
assert torch.equal(there.to("dl:0").cpu(), host)
moved = torch.zeros(4, 3).to("dl:0")
moved.copy_(there.t())
assert torch.equal(moved.cpu(), host.t())
""",
    )
