"""The first check of a process runs as every later one."""

from __future__ import annotations

import subprocess
import sys

CODE = """
from contextlib import contextmanager, suppress
from dl_conformance.checks.check import run_check

class Vendor:
    is_legacy = suspended = False

    @contextmanager
    def unguarded(self):
        self.suspended = True
        yield

vendor = Vendor()
# The vendor has nothing else, so that the check itself fails.
with suppress(AttributeError):
    run_check(vendor, "runtime[threads do not interfere]")
print(vendor.suspended)
"""


def test_the_first_check_of_a_process_suspends_guards() -> None:
    """Guards wait for every call, so that a check of enqueued work would accuse a right vendor."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr
