"""The strict lists of device-generic tests that fail, each with its cause: see opinfo's.

What fails because of dl or torch is in ``known_failures.txt`` here; a vendor keeps what is its own
in ``tests/device_known_failures.txt`` of its package.
"""

from __future__ import annotations

from pathlib import Path

from opinfo import known_failures as opinfo
from opinfo.known_failures import Key
from opinfo.vendor_lists import list_of

from .kinds import KINDS

SHARED = Path(__file__).with_name("known_failures.txt")
NAME = "device_known_failures.txt"
"""Of a vendor's own list."""

CRASHES = "crashes: "
"""Begins the cause of what ends the process: run in a process of its own only."""


def known_on(vendor: str) -> dict[Key, str]:
    """What is known to fail on a vendor, as ``DL_VENDORS`` names it.

    :raises opinfo.known_failures.KnownFailuresError: a line does not fit, or is there twice.
    """
    return opinfo.load(list_of(vendor, NAME), SHARED, tuple(KINDS))
