"""Fixtures of the sweeps of OpInfo; the device-generic tests share some."""

from __future__ import annotations

import faulthandler
import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest
import torch
from torch.testing._internal import common_utils
from torch.testing._internal.opinfo import core

from ..counts import COUNTS
from ..vendor_lists import VendorLists
from .known_failures import NAME, Key, cause_of, known_on
from .sweep import Report

SECONDS_PER_OPERATOR = 120
KNOWN_FAILURE = "known failure"
"""Name of the property with the cause of a listed failure in pytest's XML report."""
SECONDS_TO_END = 30
"""Grace period before the process is killed: code that does not return to Python cannot be
interrupted."""

Results = defaultdict[str, Counter[str]]


@pytest.fixture(scope="session")
def known(vendor: str, lists: VendorLists) -> dict[Key, str]:
    return known_on(vendor, lists)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Use one thread: sums depend on how they are split, and small ones gain nothing."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def no_stack_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip stack walks: torch records the whole stack when it seeds a missing device, and searches
    it for a unittest at every list of samples, which takes longer than most operators."""
    for module in (torch.cuda, torch.xpu, torch.mtia):
        if not module.is_available():
            monkeypatch.setattr(module, "manual_seed_all", lambda seed: None)
    for module in (common_utils, core):
        monkeypatch.setattr(module, "extract_test_fn", lambda: None)


@pytest.fixture(autouse=True)
def time_limit() -> Iterator[None]:
    def stop(_: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no end after {SECONDS_PER_OPERATOR} s")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS_PER_OPERATOR)
    faulthandler.dump_traceback_later(SECONDS_PER_OPERATOR + SECONDS_TO_END, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)


class Verdict:
    """Compares reports with the list of known failures, and counts them."""

    def __init__(
        self,
        vendor: str,
        known: dict[Key, str],
        results: Results,
        note: Callable[[str, object], None] | None = None,
    ) -> None:
        self.vendor = vendor
        self.known = known
        self.results = results
        self.note = note

    def judge(self, report: Report, name: str, mode: str, dtype: torch.dtype) -> None:
        """Fail on an unlisted problem, and on a listed one that no longer occurs."""
        short = str(dtype).removeprefix("torch.")
        counts = self.results[f"{mode} {short} on {self.vendor}"]
        counts["all"] += 1
        counts["right"] += not report.problems
        counts["samples"] += report.samples
        cause = cause_of(self.known, name, mode, short)
        if cause is None:
            assert not report.problems, (
                f"{report.text()}\nif it cannot be mended, add it to {NAME} with its cause: "
                f"{name} | {mode} | {short} | CAUSE"
            )
            return
        assert report.problems, (
            f"{name} | {mode} | {short} passes now on {self.vendor}: remove it from its list "
            f"(listed cause: {cause})"
        )
        if self.note is not None:
            self.note(KNOWN_FAILURE, cause)


@pytest.fixture
def verdict(
    vendor: str,
    known: dict[Key, str],
    record_property: Callable[[str, object], None],
    pytestconfig: pytest.Config,
) -> Verdict:
    return Verdict(vendor, known, pytestconfig.stash[COUNTS].results, record_property)


@pytest.fixture
def native_counts(vendor: str, pytestconfig: pytest.Config) -> Callable[[bool], None]:
    """Return a function that counts a claimed overload as right without fallback, or not."""

    def count(right: bool) -> None:
        counts = pytestconfig.stash[COUNTS].results[f"overloads without fallback on {vendor}"]
        counts["all"] += 1
        counts["right"] += right

    return count


@pytest.fixture
def without_fallback(vendor: str, pytestconfig: pytest.Config) -> Callable[[Any, bool], None]:
    """Return a function that counts an OpInfo operator as native in all of its samples, or not."""

    def count(op: Any, native: bool) -> None:
        operators = pytestconfig.stash[COUNTS].native.setdefault(vendor, {})
        operators.setdefault(op.name, []).append(native)

    return count
