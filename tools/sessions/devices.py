"""Vendors with a device on this machine that is visible in an environment."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import nox

from .vendors import driver_packages, vendors

# Exits with 0 if a vendor has a device on this machine.
HAS_DEVICE = """
import sys, torch
sys.exit(not (hasattr(torch, "dl") and torch.dl.is_available()))
"""
# Exits with 0 if a vendor has a device with memory of its own, such as a GPU.
HAS_GPU = """
import sys, torch
if not (hasattr(torch, "dl") and torch.dl.is_available()):
    sys.exit(1)
from dl_core import _C
sys.exit(bool(_C.device_info(0)["host_accessible"]))
"""
# Makes sessions of a vendor without a device skip ("skip") instead of failing.
WITHOUT_DEVICE = "DL_NOX_WITHOUT_DEVICE"


@functools.cache  # cached, because each answer imports torch and sessions ask repeatedly
def has_device(python: str, vendor: str | None, program: str = HAS_DEVICE) -> bool:
    """Return True if a vendor of the environment has a device on this machine.

    :param vendor: None: the vendor that torch selects by default.
    :param program: the check, a program that exits with 0.
    """
    env = {name: value for name, value in os.environ.items() if name != "DL_VENDORS"}
    if vendor is not None:
        env["DL_VENDORS"] = vendor
    # Not in the source folder, so that nothing is imported from there.
    with TemporaryDirectory() as folder:
        command = [str(Path(python).absolute()), "-c", program]
        return subprocess.run(command, env=env, cwd=folder, check=False).returncode == 0


def visible(python: str) -> dict[str, str]:
    """Return the environment that makes a device visible if torch would see none by default.

    The wheel of an accelerator without a device here hides the CPU reference. DL_VENDORS is not
    changed if it is set. Vendors with a driver from packages have separate sessions.
    """
    if os.environ.get("DL_VENDORS") or has_device(python, None):
        return {}
    tested = (name for name in vendors() if driver_packages(name) is None)
    return {"DL_VENDORS": ",".join(name for name in tested if has_device(python, name))}


def demand_device(
    session: nox.Session, python: str, vendor: str, variables: Mapping[str, str] | None = None
) -> None:
    """Fail if a vendor has no device, because a session without tests would look like success.

    :param variables: variables that select a driver.
    """
    if variables or has_device(python, vendor):
        return
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            [str(Path(python).absolute()), "-m", "dl_core", "doctor", "--json"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    said = {found["name"]: found for found in json.loads(done.stdout)["vendors"]}.get(vendor, {})
    reason = said.get("no_device") or said.get("error") or "its wheel was not built"
    message = f"vendor {vendor} has no device here, so nothing was run: {reason}"
    # `full` runs everything that this machine supports.
    if os.environ.get(WITHOUT_DEVICE) == "skip":
        session.skip(message)
    session.error(message)


def demand_gpu(session: nox.Session, python: str) -> str:
    """Return the vendor to benchmark: the one in DL_VENDORS, or the first with a GPU here."""
    if named := os.environ.get("DL_VENDORS"):
        return named
    for name in vendors():
        if has_device(python, name, HAS_GPU):
            return name
    message = f"none of the vendors {', '.join(vendors())} has a GPU here, so nothing was timed"
    if os.environ.get(WITHOUT_DEVICE) == "skip":
        session.skip(message)
    session.error(message)
    return None
