"""The vendor's work runs on torch's own threads, which ``torch.set_num_threads`` sets."""

from __future__ import annotations

import pytest

from .processes import RUNS_ONCE, output

pytestmark = RUNS_ONCE

THREADS = """
import os
import torch

def threads():
    return len(os.listdir("/proc/self/task"))

torch.set_num_threads({threads})
x = torch.empty(1 << 20, device="dl")
before = threads()
torch.exp(x)
print(threads() - before)
"""


@pytest.mark.vendor("cpu")
@pytest.mark.parametrize("threads", [1, 3])
def test_a_large_operator_runs_on_as_many_threads_as_torch_has(threads: int) -> None:
    assert output(THREADS.format(threads=threads), DL_VENDORS="cpu") == str(threads - 1)
