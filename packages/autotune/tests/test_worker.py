"""Workers of a tuner: messages about failures, and the advice if memory is short.

The end of processes and their cleanup are tested with :mod:`diopi_proto.worker`.
"""

from __future__ import annotations

import signal
from typing import Any

import pytest

from dl_autotune.runners.limits import Limits
from dl_autotune.runners.worker import Worker, WorkerError
from workers import large, obey, without_device


@pytest.mark.parametrize(
    ("request_", "reason", "message"),
    [
        (("refuse", "[tune] no"), "error", "[tune] no"),
        (("raise", "no good"), "error", "ValueError: no good"),
        (("crash", signal.SIGSEGV), "crash", "the process was ended by SIGSEGV: last words"),
        (("hang", None), "timeout", "no answer within 0.5 s"),
        (("child", None), "children", "left a process behind"),
    ],
)
def test_failures_say_what_happened(request_: Any, reason: str, message: str) -> None:
    with Worker(obey) as made:
        with pytest.raises(WorkerError) as caught:
            made.call(request_, 0.5)
        assert (caught.value.reason, str(caught.value)) == (reason, message)
        assert made.call(("echo", "next"), 60) == "next"


@pytest.mark.parametrize("mebibytes", [1, 16])
def test_a_worker_without_memory_to_start_reports_how_much_it_needs(mebibytes: int) -> None:
    limits = Limits(memory=mebibytes << 20)
    message = f"did not start within {mebibytes} MiB of memory: give it .* --memory [0-9]+ does"
    with Worker(large, limits) as made, pytest.raises(WorkerError, match=message) as caught:
        made.call(("echo", 1), 60)
    assert caught.value.reason == "limit"


def test_low_memory_is_not_blamed_for_other_failures() -> None:
    limits = Limits(memory=256 << 20)
    with Worker(without_device, limits) as made, pytest.raises(WorkerError) as caught:
        made.call(("echo", 1), 60)
    assert str(caught.value) == "RuntimeError: there is no device"
