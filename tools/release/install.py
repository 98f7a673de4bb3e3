"""Installation by name from a local index into a clean environment, and a training step there."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

from .declared import ReleaseError
from .process import run

NAMES = ("dl-core[torch]", "dl-vendor-cpu")
# A user's first program: importing torch is enough for the device.
PROGRAM = """
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
model.to("dl")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(64, 8, device="dl")
losses = []
for _ in range(20):
    optimizer.zero_grad()
    loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0] / 2, losses
print(f"torch {torch.__version__}: loss {losses[0]:.3f} -> {losses[-1]:.3f} on {x.device}")
"""
# Prints the files that pip recorded for a distribution.
RECORD = """
import importlib.metadata, sys
print(importlib.metadata.distribution(sys.argv[1]).read_text("RECORD"))
"""


def install_and_train(
    index: str,
    wheels: list[Path],
    folder: Path,
    *,
    python: str = sys.executable,
    further: tuple[str, ...] = (),
) -> str:
    """Install :data:`NAMES` into a new environment, train, and return the program's line.

    :param index: address of the index with our wheels; all others come from pip's usual places.
    :param wheels: the wheels that pip must choose from that index.
    :param folder: where the environment is made.
    :param python: the interpreter whose version the environment has.
    :param further: further requirements, such as a torch release.
    :raises ReleaseError: a step fails, or a wheel of another index was installed.
    """
    # The environment's Python must not find this one's packages.
    foreign = ("PYTHON", "VIRTUAL_ENV")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}

    def within(*command: str) -> str:
        return run(*command, variables=clean)

    within(python, "-m", "venv", "--clear", str(folder))
    own = str(folder / "bin" / "python")
    wanted = (*NAMES, *further)
    within(own, "-m", "pip", "install", "--quiet", "--extra-index-url", index, *wanted)
    within(own, "-m", "pip", "check")
    for wheel in wheels:
        name = wheel.name.split("-")[0].replace("_", "-")
        if name not in ("dl-core", "dl-vendor-cpu", "dl-diopi-proto"):
            continue
        installed = within(own, "-c", RECORD, name)
        if not _files_of(wheel) <= set(installed.splitlines()):
            raise ReleaseError(f"[release] {name} was not installed from {wheel.name}")
    return within(own, "-W", "error", "-c", PROGRAM).strip()


def _files_of(wheel: Path) -> set[str]:
    """Return the lines of a wheel's RECORD that name a file with its hash."""
    with zipfile.ZipFile(wheel) as archive:
        (record,) = (x for x in archive.namelist() if x.endswith(".dist-info/RECORD"))
        lines = archive.read(record).decode().splitlines()
    return {line for line in lines if "sha256=" in line}
