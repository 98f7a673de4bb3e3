"""The thread in which backward() runs: the caller's with one device, torch's own with several."""

from __future__ import annotations

import pytest

from .processes import RUNS_ONCE, output

pytestmark = RUNS_ONCE

# Prints whether a node of backward() ran in the calling thread.
OWN_THREAD = """
import threading, torch

def runs_in_own_thread(device="dl"):
    x = torch.ones(3, device=device, requires_grad=True)
    seen = []
    y = x * 2
    y.register_hook(lambda grad: seen.append(threading.get_ident()))
    (y * y).sum().backward()
    assert x.grad.tolist() == [8.0] * 3
    return seen == [threading.get_ident()]
"""

VENDORS = pytest.mark.parametrize("vendor", ["cpu", "async"])


ONE = {"DL_ASYNC_TEST_DEVICES": "1", "DL_CPU_DEVICES": "1"}


@VENDORS
def test_with_one_device_the_caller_runs_it(vendor: str) -> None:
    code = OWN_THREAD + "print(runs_in_own_thread())"
    assert output(code, DL_VENDORS=vendor, **ONE) == "True"


@VENDORS
def test_every_thread_runs_its_own(vendor: str) -> None:
    code = (
        OWN_THREAD
        + """
found = []
threads = [
    threading.Thread(target=lambda: found.append(runs_in_own_thread())) for _ in range(4)
]
for each in threads: each.start()
for each in threads: each.join()
print(found)
"""
    )
    assert output(code, DL_VENDORS=vendor, **ONE) == str([True] * 4)


def test_torchs_threads_come_back_where_they_are_asked_for() -> None:
    code = (
        OWN_THREAD
        + """
torch.ones(1, device="dl") + 1
with torch.autograd.set_multithreading_enabled(True):
    inside = runs_in_own_thread()
print(inside, runs_in_own_thread())
"""
    )
    assert output(code, DL_VENDORS="cpu") == "False True"


def test_several_devices_keep_torchs_threads() -> None:
    code = OWN_THREAD + 'print(runs_in_own_thread("dl:0"), runs_in_own_thread("dl:1"))'
    assert output(code, DL_VENDORS="cpu", DL_CPU_DEVICES="2") == "False False"


@VENDORS
def test_a_checkpoint_within_a_checkpoint_is_recomputed(vendor: str) -> None:
    code = """
import torch
from torch.utils.checkpoint import checkpoint

def nested(x, depth):
    if depth == 0:
        return x.sin()
    return checkpoint(nested, x, depth - 1, use_reentrant=True).sin()

def gradient(device):
    x = torch.linspace(-1, 1, 7, device=device, dtype=torch.float64, requires_grad=True)
    nested(x, 80).sum().backward()
    return x.grad.cpu()

torch.testing.assert_close(gradient("dl"), gradient("cpu"))
"""
    output(code, DL_VENDORS=vendor, **ONE)
