"""Inverted functions run step by step, and their threads always end."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable

import pytest

from dl_autotune.strategies.inverted import EndedError, Inverted

Ask = Callable[[int], None]
LONG = 60.0


def test_a_function_runs_only_while_it_is_asked() -> None:
    done: list[str] = []

    def count(ask: Ask) -> None:
        for number in range(2):
            done.append(f"before {number}")
            ask(number)
            done.append(f"after {number}")

    inverted = Inverted(count, LONG)
    assert done == []
    assert inverted.step() == 0
    assert done == ["before 0"]
    assert inverted.step() == 1
    assert done == ["before 0", "after 0", "before 1"]
    assert inverted.step() is None
    assert done[-1] == "after 1"
    assert not inverted.thread.is_alive()


def test_an_error_is_raised_where_it_is_asked() -> None:
    def fail(ask: Ask) -> None:
        ask(1)
        raise ValueError("of the function")

    inverted = Inverted(fail, LONG)
    assert inverted.step() == 1
    with pytest.raises(ValueError, match="of the function"):
        inverted.step()
    assert not inverted.thread.is_alive()


@pytest.mark.parametrize("started", [False, True])
def test_closing_unwinds_a_function_that_catches_errors(started: bool) -> None:
    unwound: list[str] = []

    def insist(ask: Ask) -> None:
        try:
            for number in itertools.count():
                try:
                    ask(number)
                except Exception:  # noqa: BLE001 - as careless strategies do
                    continue
        finally:
            unwound.append("finally")

    inverted = Inverted(insist, LONG)
    if started:
        assert [inverted.step(), inverted.step()] == [0, 1]
    inverted.close()
    inverted.close()
    assert not inverted.thread.is_alive()
    assert unwound == (["finally"] if started else [])


def test_a_function_that_asks_again_after_its_end_is_ended_again() -> None:
    ended: list[int] = []

    def stubborn(ask: Ask) -> None:
        for number in range(3):
            try:
                ask(number)
            except EndedError:
                ended.append(number)

    inverted = Inverted(stubborn, LONG)
    assert inverted.step() == 0
    inverted.close()
    assert not inverted.thread.is_alive()
    # Later questions had no receiver, and each raised the error.
    assert ended == [0, 1, 2]


def test_a_function_that_does_not_ask_again_is_ended() -> None:
    def loop(ask: Ask) -> None:
        ask(1)
        while True:
            pass

    inverted = Inverted(loop, 0.2)
    assert inverted.step() == 1
    with pytest.raises(TimeoutError, match=r"no answer within 0\.2 s"):
        inverted.step()
    assert not inverted.thread.is_alive()


def test_one_that_is_dropped_ends_its_thread() -> None:
    def forever(ask: Ask) -> None:
        for number in itertools.count():
            ask(number)

    inverted = Inverted(forever, LONG)
    assert inverted.step() == 0
    thread = inverted.thread
    del inverted
    gc.collect()
    thread.join(LONG)
    assert not thread.is_alive()
