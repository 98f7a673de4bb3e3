"""Tests of a vendor's kernels on simulated devices: operators, a model and the conformance suite.

The fixture ``simulated_vendor`` is the vendor on a driver that runs kernels.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from extension_tests.simulated_vendor import SimulatedVendor

from dl_conformance.commit_seed import commit_seed


def test_results_are_right(simulated_vendor: SimulatedVendor) -> None:
    code = """
    x = np.random.default_rng(0).standard_normal((5, 333)).astype("float32")
    given, out, total = vendor.tensor(x), vendor.empty((5, 333)), vendor.empty((5,))
    vendor.op.Softmax(out, given, 1)
    wanted = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out.numpy(), wanted / wanted.sum(1, keepdims=True), rtol=1e-5)
    vendor.op.Sum(total, out, (1,))
    np.testing.assert_allclose(total.numpy(), np.ones(5), rtol=1e-6)
    vendor.op.Add(out, given, vendor.tensor(np.ascontiguousarray(x.T).T), 2.0)
    np.testing.assert_allclose(out.numpy(), 3 * x, rtol=1e-6)
    """
    simulated_vendor.run_on_vendor(code)


def test_an_invalid_index_is_raised_when_the_host_waits(simulated_vendor: SimulatedVendor) -> None:
    code = """
    import torch
    numbers = torch.arange(3.0, device="dl")
    taken = numbers[torch.tensor([0, 7], device="dl")]
    try:
        torch.dl.synchronize()
    except IndexError as error:
        print(error)
    print(numbers.sum().item())
    """
    output = simulated_vendor.run(code)
    assert "index 7 is out of bounds for dimension 0 with size 3" in output
    assert output.endswith("3.0\n")


def test_a_model_learns_as_on_the_cpu(simulated_vendor: SimulatedVendor) -> None:
    code = """
    import torch
    def trained(device):
        torch.manual_seed(0)
        layers = torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 2)
        model = torch.nn.Sequential(*layers)
        x, classes = torch.randn(5, 4), torch.tensor([0, 1, 1, 0, 1])
        model.to(device)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        for _ in range(2):
            logits = model(x.to(device))
            loss = torch.nn.functional.cross_entropy(logits, classes.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return [parameter.detach().cpu() for parameter in model.parameters()]
    for here, there in zip(trained("cpu"), trained("dl")):
        torch.testing.assert_close(there, here)
    print(torch.dl.fallback_stats().totals["fallback"], flush=True)
    # torch's autograd threads hold Python objects when the interpreter exits.
    import os
    os._exit(0)
    """
    assert simulated_vendor.run(code) == "0\n"


def run_conformance_sample(vendor: SimulatedVendor, part: int, folder: Path) -> dict[str, Any]:
    """Run one in ``part`` of the conformance cases, chosen by the commit; return the report."""
    processes, report = vendor.processes, folder / "report.json"
    sample = ("--sample", f"{part}/{commit_seed(processes.folder)}", "-k", "not runtime")
    options = ("--vendor", processes.vendor, "--simulate", "--seconds", "300")
    command = [sys.executable, "-m", "dl_conformance", *options, *sample, "--json", str(report)]
    # The suite names the simulated driver.
    driver = processes.driver_variable
    env = {
        name: value for name, value in {**os.environ, **vendor.variables}.items() if name != driver
    }
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, " ".join(command) + done.stdout + done.stderr
    found: dict[str, Any] = json.loads(report.read_text())
    assert found["vendor"]["simulated"][driver] == vendor.variables[driver]
    return found
