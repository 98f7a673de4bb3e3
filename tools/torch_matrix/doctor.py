"""Report of ``dl doctor`` on an environment, and rejection of another release's dl-core."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from .environment import Environment

USE_TORCH = """
import torch
print(float(torch.ones(2).sum()), torch._C._get_privateuse1_backend_name())
"""
TORCH_ALONE = "2.0 privateuseone"
"""Output if torch works and dl has left it unchanged."""


@dataclass(frozen=True)
class Diagnosis:
    """Findings of ``dl doctor``.

    :ivar vendors: vendors of the visible devices, in order.
    :ivar problems: empty if there are none.
    """

    vendors: list[str]
    problems: list[str]

    @property
    def healthy(self) -> bool:
        return bool(self.vendors) and not self.problems


def vendors_with_a_device(environment: Environment) -> list[str]:
    """Return the vendors that can be tested here. An accelerator vendor without a device would
    disable the CPU reference, unless DL_VENDORS requests it.
    """
    report = json.loads(_doctor(environment).stdout)
    return [vendor["name"] for vendor in report["vendors"] if vendor["device_count"]]


def _doctor(environment: Environment) -> subprocess.CompletedProcess[str]:
    """Run ``dl doctor`` outside of the sources, so that these are not imported."""
    with TemporaryDirectory() as folder:
        return environment.run("-m", "dl_core", "doctor", "--json", folder=Path(folder))


def examine(environment: Environment) -> Diagnosis:
    """Run ``dl doctor``."""
    done = _doctor(environment)
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        return Diagnosis([], [f"dl doctor ended with {done.returncode}: {done.stderr.strip()}"])
    problems = list(report["problems"])
    for what, version in (("torch", report["torch"]), ("compiled for", report["compiled_for"])):
        if version is None or version.partition("+")[0] != environment.release:
            problems.append(f"{what} {version}, not {environment.release}")
    if done.returncode and not problems:
        problems.append(f"dl doctor ended with {done.returncode}")
    vendors = list(dict.fromkeys(device["vendor"] for device in report["visible"]))
    return Diagnosis(vendors, problems)


def refusal_problems(environment: Environment, foreign: Path, release: str) -> list[str]:
    """Return the problems with the rejection of another release's dl-core; empty if it is right.

    torch must be left unchanged, and both ``import torch`` and ``dl doctor`` must name the two
    releases and the remedy.

    :param foreign: the wheel of dl-core for ``release``, which is not the environment's.
    """
    needed = (
        f"built for torch {release}",
        f"torch {environment.release}",
        f"+torch{environment.release}",
        f"torch=={release}",
    )
    found = []
    with TemporaryDirectory() as text:
        folder = Path(text)
        # Precedes the installed dl-core in the path.
        target = ("--no-deps", "--no-index", "--target", str(folder))
        environment.pip("install", *target, str(foreign))
        variables = {"PYTHONPATH": str(folder)}
        used = environment.run("-c", USE_TORCH, variables=variables, folder=folder)
        if used.returncode or used.stdout.strip() != TORCH_ALONE:
            found.append(
                f"import torch ended with {used.returncode} and {used.stdout.strip()!r}, "
                f"expected 0 and {TORCH_ALONE!r}: {used.stderr.strip()[-500:]}"
            )
        listed = environment.run("-m", "dl_core", "devices", variables=variables, folder=folder)
        if "No device is visible." not in listed.stdout:
            found.append(
                f"dl devices lists devices that torch does not see: {listed.stdout.strip()}"
            )
        asked = environment.run("-m", "dl_core", "doctor", variables=variables, folder=folder)
        if asked.returncode == 0:
            found.append("dl doctor reports no problem")
        # The doctor wraps its lines to the width of the terminal.
        said = {"import torch": used.stderr, "dl doctor": asked.stdout}
        for who, words in said.items():
            line = " ".join(words.split())
            found += [f"{who} does not say {part!r}" for part in needed if part not in line]
    return found
