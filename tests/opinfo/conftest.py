"""Sweeps run on dl:0, whichever vendor serves it; the terminal summary shows their counts."""

from dl_torch_tests.fixtures import lists, vendor
from dl_torch_tests.opinfo.fixtures import (
    known,
    native_counts,
    no_stack_walks,
    one_thread,
    time_limit,
)

__all__ = [
    "known",
    "lists",
    "native_counts",
    "no_stack_walks",
    "one_thread",
    "time_limit",
    "vendor",
]
