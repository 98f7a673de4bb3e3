"""Train a model on dl in a separate process, and write its losses and the host's waits to a file.

    python -m models.simulated NAME FILE

Environment variables select the vendor: DL_VENDORS, and the driver of a GPU.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable
from typing import Any

import torch
from cffi import FFI
from torch import nn
from torch.nn import functional

from dl_torch_tests.models.one_step import Step
from dl_torch_tests.models.small_steps import SMALL_STEPS

from .steps import STEPS

TRAINED: dict[str, Callable[[], Step]] = {
    "mlp": SMALL_STEPS["mlp"],
    "cnn": lambda: STEPS["cnn"](6, 4),
    "encoder": lambda: STEPS["encoder"](1, 16, 64),
    "decoder": lambda: STEPS["decoder"](1, 16, 64),
}
"""Batches and models that are small enough for an interpreter of kernels to train in a minute."""

ROUNDS = 3


def train(step: Step, device: torch.device, count: Callable[[], int]) -> dict[str, Any]:
    """Train some steps on one batch.

    :param count: returns the number of waits of the host so far.
    :returns: ``losses``, and ``waits``, the number in each step.
    """
    model = copy.deepcopy(step.model).to(device).train()
    batch = {name: value.to(device) for name, value in step.batch.items()}
    parameters = list(model.parameters())
    optimizer = step.make_optimizer(parameters)
    losses, waits = [], []
    for _ in range(ROUNDS):
        before = count()
        optimizer.zero_grad()
        loss, _ = step.forward(model, batch)
        loss.backward()
        if step.clip is not None:
            nn.utils.clip_grad_norm_(parameters, step.clip)
        optimizer.step()
        waits.append(count() - before)
        losses.append(loss.detach())
    return {"losses": torch.stack(losses).cpu(), "waits": waits}


def counter() -> Callable[[], int]:
    """Return a function that counts the host's waits, if the driver counts them."""
    vendor = os.environ["DL_VENDORS"]
    if vendor == "cuda":
        from dl_gpu_sim import waits

        return lambda: sum(waits().values())
    if vendor == "rocm":
        functions = FFI()
        functions.cdef("unsigned long long fake_hip_waits(void);")
        driver = functions.dlopen(os.environ["DL_ROCM_DRIVER"])
        return lambda: int(driver.fake_hip_waits())
    return lambda: 0


def main(name: str, file: str) -> None:
    torch.set_num_threads(1)
    step, device, count = TRAINED[name](), torch.device("dl"), counter()
    results = step.run(device)
    trained = train(step, device, count)
    totals = dict(torch.dl.fallback_stats().totals)
    # Like a model that synchronizes after a lookup, whose check is then read, too.
    looked_up = functional.embedding(
        torch.zeros(1, 1).long().to(device), torch.ones(1, 1).to(device)
    )
    before = count()
    bool((looked_up == 1).all())
    found = {"results": results, **trained, "totals": totals, "waits of one": count() - before}
    torch.save(found, file)
    sys.stdout.flush()
    # torch's autograd threads hold Python objects when the interpreter ends.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
