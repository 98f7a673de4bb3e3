"""Fixtures of the device-generic tests."""

from dl_torch_tests.fixtures import lists, vendor
from dl_torch_tests.opinfo.fixtures import no_stack_walks, one_thread, time_limit

__all__ = ["lists", "no_stack_walks", "one_thread", "time_limit", "vendor"]
