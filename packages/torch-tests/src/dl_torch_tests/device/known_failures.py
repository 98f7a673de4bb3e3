"""Strict lists of failing device-generic tests, each with its cause: see opinfo's.

Failures because of dl or torch are in ``known_failures.txt`` here; a vendor's own are in
``device_known_failures.txt`` of its repository, see :mod:`dl_torch_tests.vendor_lists`.
"""

from __future__ import annotations

from pathlib import Path

from ..opinfo import known_failures as opinfo
from ..opinfo.known_failures import Key
from ..vendor_lists import VendorLists
from .kinds import KINDS

SHARED = Path(__file__).with_name("known_failures.txt")
NAME = "device_known_failures.txt"
"""File name of a vendor's own list."""

SOME_PROCESSORS = "on some processors: "
"""Prefix of the cause of a failure that depends on the instructions that torch's CPU chooses."""

CRASHES = "crashes: "
"""Prefix of the cause of a crash: such tests run only in a child process."""


def known_on(vendor: str, lists: VendorLists) -> dict[Key, str]:
    """Return the known failures of a vendor, as named in ``DL_VENDORS``.

    :raises KnownFailuresError: a line is invalid, or occurs twice.
    """
    return opinfo.load(lists.find(vendor, NAME), SHARED, tuple(KINDS))
