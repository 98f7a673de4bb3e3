"""Detection of simulated drivers, whose times say nothing about a device. Does not import torch."""

from __future__ import annotations

import os
from collections.abc import Mapping

from diopi_proto.descriptor import VendorDescriptor

LABEL = "simulated"
"""Label of all results that were measured on a simulated device."""


def is_simulated(descriptor: VendorDescriptor, environ: Mapping[str, str] = os.environ) -> bool:
    """Return True if the environment selects the vendor's simulated driver.

    See :attr:`diopi_proto.descriptor.VendorDescriptor.simulated`.
    """
    if descriptor.simulated is None:
        return False
    try:
        wanted = descriptor.simulated()
    except Exception:  # noqa: BLE001 - without its simulator, a vendor has only real devices
        return False
    return bool(wanted) and all(_same(environ.get(name), value) for name, value in wanted.items())


def mark_simulated(device: str) -> str:
    """Return the identity of a simulated device, which no real device has."""
    return f"{device} ({LABEL})"


def is_marked(device: str) -> bool:
    """Return True for an identity of a simulated device."""
    return device.endswith(f" ({LABEL})")


def _same(given: str | None, wanted: str) -> bool:
    """Compare two values of a variable, which may be different paths of one file."""
    if not given:
        return False
    return given == wanted or os.path.realpath(given) == os.path.realpath(wanted)
