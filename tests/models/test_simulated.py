"""Models trained through the host code of dl-vendor-cuda and dl-vendor-rocm, on fake
drivers: dl-gpu-sim's driver, and the driver in a dl-vendor-rocm that is built for simulated GPUs.

A step is as accurate as the CPU's, has as many native operators as vendor cpu, and the host waits
within it only for values that the model itself reads.
"""

from __future__ import annotations

import copy
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from dl_torch_tests.models.one_step import CPU, Step
from dl_torch_tests.models.rule import Rule, check

from .simulated import TRAINED, train

# The vendor of this process is not used, so that one run is enough.
pytestmark = pytest.mark.vendor("cpu")
TESTS = Path(__file__).parents[1]


def driver_of_cuda() -> str:
    if importlib.util.find_spec("dl_vendor_cuda") is None:
        pytest.skip("dl-vendor-cuda is not installed")
    if importlib.util.find_spec("dl_gpu_sim") is None:
        pytest.skip("dl-gpu-sim is not installed")
    from dl_gpu_sim.paths import library

    return str(library())


def driver_of_rocm() -> str:
    if importlib.util.find_spec("dl_vendor_rocm") is None:
        pytest.skip("dl-vendor-rocm is not installed")
    from dl_vendor_rocm.presence import DRIVER, simulated

    try:
        return simulated()[DRIVER]
    except RuntimeError as error:
        pytest.skip(str(error))


DRIVERS = {
    "cuda": ("DL_CUDA_DRIVER", driver_of_cuda),
    "rocm": ("DL_ROCM_DRIVER", driver_of_rocm),
}
"""The variable that names a driver, and the path of a driver that needs no GPU, by vendor."""


def on_vendor(name: str, folder: Path, **variables: str) -> dict[str, Any]:
    """Return the results of ``simulated.py``."""
    file = folder / f"{name}-{variables['DL_VENDORS']}.pt"
    command = [sys.executable, "-m", "models.simulated", name, str(file)]
    done = subprocess.run(
        command,
        cwd=TESTS,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = torch.load(file)
    return found


class Questions(TorchDispatchMode):
    """Counter of the calls that read a value on the host: ``item()``, ``bool()``."""

    count = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        self.count += func is torch.ops.aten._local_scalar_dense.default
        return func(*args, **(kwargs or {}))


def questions(step: Step) -> int:
    """Return the number of reads in one forward pass: transformers checks for packed sequences."""
    with Questions() as asked:
        step.forward(copy.deepcopy(step.model).train(), step.batch)
    return asked.count


def marked(vendor: str, name: str) -> Any:
    """Return the parameters with marks; the shortest one always runs."""
    quick = (vendor, name) == ("cuda", "mlp")
    return pytest.param(vendor, name, marks=() if quick else pytest.mark.full)


@pytest.mark.parametrize(
    ("vendor", "name"), [marked(vendor, name) for vendor in DRIVERS for name in TRAINED]
)
def test_a_model_trains_as_on_the_cpu(vendor: str, name: str, tmp_path: Path) -> None:
    variable, driver = DRIVERS[vendor]
    on_card = {"DL_VENDORS": vendor, variable: driver()}
    step = TRAINED[name]()
    here = on_vendor(name, tmp_path, DL_VENDORS="cpu")
    there = on_vendor(name, tmp_path, **on_card)
    check(Rule(step, step.reference(), step.cpu_variants()), there["results"])
    losses = train(step, CPU, lambda: 0)["losses"]
    torch.testing.assert_close(there["losses"], losses, rtol=1e-3, atol=1e-5)
    assert losses[0] != losses[-1], "nothing was learnt"
    assert there["totals"] == here["totals"]
    # The first step may allocate memory; no step may wait for the device unless the model reads a
    # value.
    assert there["waits"] == [questions(step) * there["waits of one"]] * len(losses)
