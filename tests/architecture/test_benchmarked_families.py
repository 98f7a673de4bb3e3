"""Every contract family that torch's CPU supports is benchmarked against it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from diopi_proto.schema import load

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    pytest.importorskip("torch")
    import _kernel_calls

    yield _kernel_calls
    for name in ("_kernel_calls", "_kernel_inputs"):
        sys.modules.pop(name, None)


def test_families_are_timed_or_have_no_peer(calls: object) -> None:
    timed, without = set(calls.FAMILIES), set(calls.WITHOUT_PEER)
    assert not timed & without
    assert timed | without == {operator.family for operator in load().values()}
