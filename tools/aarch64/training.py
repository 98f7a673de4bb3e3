"""A training step on the device, by emulation and on this machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.release.install import PROGRAM

from .errors import SessionError
from .root import PYTHON, Root, run

SHOWN = 3
"""Losses that are compared; from the second on they depend on gradients."""
LOSSES = f'{PROGRAM}print(*(f"{{x:.9g}}" for x in losses[:{SHOWN}]))\n'
TOLERANCE = 1e-5
"""Relative difference of losses. Sums of 64 float32 numbers in another order differ by less."""
# One thread, because emulated threads wait for each other by spinning.
VARIABLES = {"DL_VENDORS": "cpu", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Training:
    """Output of the training program.

    :ivar line: release of torch, first and last loss, device.
    :ivar losses: the first losses, with all digits of float32.
    """

    line: str
    losses: tuple[float, ...]


def train_emulated(root: Root) -> Training:
    """Import torch and train a small model on the device by emulation.

    :raises SessionError: the program failed.
    """
    command = (PYTHON, "-W", "error", "-c", LOSSES)
    return parse(root.run(*command, variables=VARIABLES, log="train"))


def train_here(python: Path) -> Training:
    """Run the same program on this machine.

    :param python: interpreter that has the wheels for this machine.
    :raises SessionError: the program failed.
    """
    assignments = [f"{name}={value}" for name, value in VARIABLES.items()]
    # The session itself imports from the sources, and does not load devices.
    unset = ("--unset=PYTHONPATH", "--unset=TORCH_DEVICE_BACKEND_AUTOLOAD")
    return parse(run("env", *unset, *assignments, str(python), "-W", "error", "-c", LOSSES))


def parse(output: str) -> Training:
    """Parse the output of the program."""
    line, losses = output.strip().splitlines()[-2:]
    return Training(line, tuple(map(float, losses.split())))


def compare(emulated: Sequence[float], native: Sequence[float]) -> str:
    """Return a sentence about the largest difference between the first losses.

    :raises SessionError: a loss differs by more than the tolerance.
    """
    shown = ", ".join(f"{x:.9g}" for x in emulated)
    pairs = list(zip(emulated, native, strict=True))
    if not all(math.isclose(one, other, rel_tol=TOLERANCE) for one, other in pairs):
        expected = ", ".join(f"{x:.9g}" for x in native)
        raise SessionError(
            f"[aarch64] the first losses are {shown} by emulation and {expected} on x86-64; they "
            f"may differ by a factor of 1 + {TOLERANCE:g}: compare the operators of the training "
            "one by one"
        )
    largest = max(abs(one - other) / abs(other) for one, other in pairs)
    return f"first losses {shown}, within {largest:.1e} of those on x86-64"
