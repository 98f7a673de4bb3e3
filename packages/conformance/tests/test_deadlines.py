"""Deadlines of cases: calls that return renew them, so that a busy machine fails no library."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from diopi_proto.worker import Worker, note
from dl_conformance.checks import check
from dl_conformance.outcome import Outcome
from dl_conformance.pool import CaseRunner
from dl_conformance.target import of_vendor
from dl_conformance.worker import LOST

LEAK = "runtime[thousands of calls leak no memory]"
STEPS, STEP, LIMIT = 12, 0.1, 0.8


def slow() -> Callable[[tuple[str, bool] | str], dict[str, Any]]:
    def handle(name: str) -> dict[str, Any]:
        for _ in range(STEPS):
            if "notes" in name:
                note("a call")
            time.sleep(STEP)
        return {**Outcome(name, "runtime", "", "passed").as_dict(), LOST: False}

    return handle


def test_a_case_may_take_longer_than_its_timeout_while_its_calls_return() -> None:
    runner = CaseRunner(of_vendor("cpu")[0], seconds=LIMIT, environ={})
    runner.worker = Worker(slow, json=True)
    runner.worker.start()
    try:
        assert runner.run("with notes").status == "passed"
        assert runner.run("without").cause == "hang: longer than 0.8 s"
    finally:
        runner.leave()


def test_each_call_of_a_check_renews_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[str] = []
    monkeypatch.setattr(check, "note", noted.append)
    with of_vendor("cpu")[0].load() as vendor:
        assert check.run_check(vendor, LEAK).status == "passed"
    assert len(noted) > 2000 and set(noted) == {"diopiAdd"}
