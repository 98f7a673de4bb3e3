"""Asks a vendor library what it is, in a process of its own, by the contract's torch-free host."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import diopi_proto
from diopi_proto.descriptor import VendorDescriptor
from dl_core.errors import ProbeError

_ROOTS = [str(Path(__file__).parents[1]), str(Path(diopi_proto.__file__).parents[1])]
_CHILD = """
import sys
sys.path[:0] = {roots!r}
from dl_core.probe import child
child({path!r}, {legacy!r})
"""


@dataclass(frozen=True)
class DeviceReport:
    """One device as its vendor describes it."""

    index: int
    """The vendor's own number."""
    name: str
    total_memory: int
    """Bytes."""
    architecture: str


@dataclass(frozen=True)
class Probe:
    """What one library answered."""

    abi: str = ""
    """``dl_vendor_v1``, or ``DIOPI`` for a library in DIOPI's own convention."""
    version: str = ""
    operators: int = 0
    """Operators of the contract that it has."""
    mismatched: list[str] = field(default_factory=list)
    """Operators that it has with another signature: they run on the CPU."""
    devices: list[DeviceReport] = field(default_factory=list)
    error: str = ""
    """Why it could not be examined; empty if it could."""


def probe_vendor(descriptor: VendorDescriptor, timeout: float) -> Probe:
    """Load the library in another process and count its devices there.

    :param timeout: seconds. A driver may hang, which must not hang the caller.
    """
    if not descriptor.library.is_file():
        return Probe(error=f"its library {descriptor.library} is not there.")
    try:
        facts = _ask(descriptor, timeout)
    except ProbeError as error:
        return Probe(error=str(error))
    devices = [DeviceReport(**device) for device in facts.pop("devices", ())]
    return Probe(**facts, devices=devices)


def _ask(descriptor: VendorDescriptor, timeout: float) -> dict[str, Any]:
    code = _CHILD.format(roots=_ROOTS, path=str(descriptor.library), legacy=descriptor.legacy)
    try:
        done = subprocess.run(
            # Isolated: the current folder and PYTHONPATH must not come before our own packages.
            [sys.executable, "-I", "-c", code],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        raise ProbeError(
            f"loading it and counting its devices took longer than {timeout:g} seconds; "
            f"DL_PROBE_TIMEOUT allows more."
        ) from None
    if done.returncode < 0:
        raise ProbeError(f"it crashed with {_signal_name(-done.returncode)} while being examined.")
    # The last line is ours; a vendor may have printed before.
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        raise ProbeError(
            f"examining it ended with code {done.returncode}: {done.stderr.strip()[-500:]}"
        )
    facts: dict[str, Any] = json.loads(lines[-1])
    return facts


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def child(path: str, legacy: bool) -> None:
    """What the other process runs: writes the fields of a :class:`Probe` as a line of JSON."""
    facts: dict[str, object]
    try:
        with diopi_proto.load_vendor(path, legacy=legacy) as vendor:
            facts = {
                "abi": "DIOPI" if vendor.is_legacy else "dl_vendor_v1",
                "version": vendor.version,
                "operators": sum(vendor.operators.values()),
                "mismatched": sorted(vendor.mismatched),
                "devices": [_device(vendor, index) for index in range(vendor.device_count)],
            }
    except diopi_proto.DiopiError as error:
        facts = {"error": str(error)}
    sys.stdout.write("\n" + json.dumps(facts) + "\n")


def _device(vendor: diopi_proto.Vendor, index: int) -> dict[str, object]:
    properties = vendor.properties(index)
    return {
        "index": index,
        "name": properties.name,
        "total_memory": properties.total_memory,
        "architecture": properties.architecture,
    }
