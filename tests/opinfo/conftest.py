"""Sweeps run on dl:0, whichever vendor serves it; the terminal summary shows their counts."""

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

from .known_failures import Key, cause_of, known_on
from .sweep import Report

SECONDS_PER_OPERATOR = 120
KNOWN_FAILURE = "known failure"
"""Name of the property with the cause of a listed failure in pytest's XML report."""
SECONDS_TO_END = 30
"""Grace period before the process is killed: code that does not return to Python cannot be
interrupted."""

Counts = defaultdict[str, Counter[str]]

_counts: Counts = defaultdict(Counter)
"""Counts in the summary, under keys such as "forward float32 on cpu"."""
_native: dict[str, dict[str, list[bool]]] = {}
"""True for each entry that ran without a fallback, by vendor and base operator."""


@pytest.fixture(scope="session")
def vendor() -> str:
    """The vendor of dl:0."""
    if not hasattr(torch, "dl") or not torch.dl.is_available():
        pytest.fail("there is no dl device: install dl-core and a vendor; `dl doctor` says more")
    return str(torch.dl.get_device_properties(0).vendor)


@pytest.fixture(scope="session")
def known(vendor: str) -> dict[Key, str]:
    return known_on(vendor)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Use one thread: sums depend on how they are split, and small ones gain nothing."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def _no_stack_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip stack walks: torch records the whole stack when it seeds a missing device, and searches
    it for a unittest at every list of samples, which takes longer than most operators."""
    for module in (torch.cuda, torch.xpu, torch.mtia):
        if not module.is_available():
            monkeypatch.setattr(module, "manual_seed_all", lambda seed: None)
    for module in (common_utils, core):
        monkeypatch.setattr(module, "extract_test_fn", lambda: None)


@pytest.fixture(autouse=True)
def _time_limit() -> Iterator[None]:
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
        counts: Counts,
        note: Callable[[str, object], None] | None = None,
    ) -> None:
        self.vendor = vendor
        self.known = known
        self.counts = counts
        self.note = note

    def judge(self, report: Report, name: str, mode: str, dtype: torch.dtype) -> None:
        """Fail on an unlisted problem, and on a listed one that no longer occurs."""
        short = str(dtype).removeprefix("torch.")
        counts = self.counts[f"{mode} {short} on {self.vendor}"]
        counts["all"] += 1
        counts["right"] += not report.problems
        counts["samples"] += report.samples
        cause = cause_of(self.known, name, mode, short)
        if cause is None:
            assert not report.problems, report.text()
            return
        assert report.problems, (
            f"{name} | {mode} | {short} passes now on {self.vendor}: remove it from its list "
            f"(listed cause: {cause})"
        )
        if self.note is not None:
            self.note(KNOWN_FAILURE, cause)


@pytest.fixture
def verdict(
    vendor: str, known: dict[Key, str], record_property: Callable[[str, object], None]
) -> Verdict:
    return Verdict(vendor, known, _counts, record_property)


@pytest.fixture
def native_counts(vendor: str) -> Callable[[bool], None]:
    """Return a function that counts a claimed overload as right without fallback, or not."""

    def count(right: bool) -> None:
        counts = _counts[f"overloads without fallback on {vendor}"]
        counts["all"] += 1
        counts["right"] += right

    return count


@pytest.fixture
def without_fallback(vendor: str) -> Callable[[Any, bool], None]:
    """Return a function that counts an OpInfo operator as native in all of its samples, or not."""

    def count(op: Any, native: bool) -> None:
        _native.setdefault(vendor, {}).setdefault(op.name, []).append(native)

    return count


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for what, counts in sorted(_counts.items()):
        samples = f", {counts['samples']} samples" if counts["samples"] else ""
        terminalreporter.write_line(
            f"OpInfo {what}: {counts['right']} of {counts['all']} right{samples}"
        )
    for vendor, operators in sorted(_native.items()):
        entries = [entry for base in operators.values() for entry in base]
        terminalreporter.write_line(
            f"OpInfo forward float32 without fallback on {vendor}: {sum(entries)} of "
            f"{len(entries)} entries, {sum(map(any, operators.values()))} of {len(operators)} "
            f"base operators ({sum(map(all, operators.values()))} with all of their entries)"
        )
