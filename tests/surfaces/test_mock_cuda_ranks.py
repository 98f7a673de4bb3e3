"""A script for CUDA and NCCL on two ranks runs on dl, and trains as one process does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torch
from core.processes import SECONDS

SCRIPT = Path(__file__).parent / "programs" / "ddp_cuda.py"


def trained_alone() -> torch.Tensor:
    """Return the weights that the script's two ranks train, computed on the CPU in one process."""
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batch = torch.arange(16.0).view(4, 4) / 10
    for _ in range(2):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
    return model.weight.detach().flatten()


def test_two_ranks_train_as_one_process() -> None:
    launch = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    done = subprocess.run(
        [sys.executable, "-m", "dl_core", "run", "--mock-cuda", *launch, str(SCRIPT)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    weights = torch.tensor([float.fromhex(text) for text in done.stdout.split()])
    torch.testing.assert_close(weights, trained_alone())
