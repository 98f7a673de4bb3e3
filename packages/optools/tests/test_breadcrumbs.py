"""Breadcrumbs survive the process, and distinguish the crashed operator from others."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from dl_optools.breadcrumbs.crumb_file import (
    FINISHED,
    LEFT,
    ONLY_ON_DEVICE,
    RAISED,
    RUNNING,
    SLOTS,
    CrumbWriter,
    crumbs_of,
    running,
)
from dl_optools.breadcrumbs.names import FATAL_SUFFIX, FOLDER_VARIABLE
from dl_optools.breadcrumbs.recorder import OpBreadcrumbs
from dl_optools.breadcrumbs.trail import Trail
from dl_optools.launching.launch import ENDED, STARTED, TIMED_OUT, watch

MM = "aten.mm.default(float32[2, 3], float32[3, 4])"
KILLED, CRASHED = 128 + signal.SIGKILL, 128 + signal.SIGSEGV


@pytest.fixture
def trail() -> Iterator[Trail]:
    with Trail() as made:
        yield made


def folder_of(trail: Trail) -> Path:
    return Path(trail.variables[FOLDER_VARIABLE])


def started(process: int) -> list[str]:
    return [f"{STARTED}compare, process {process}"]


def test_a_record_survives_the_process(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        writer = CrumbWriter(tmp_path)
        writer.begin(writer.take().at, MM)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (crumb,) = running(tmp_path)
    assert (crumb.process, crumb.number, crumb.text, crumb.name) == (child, 1, MM, MM[:15])


def test_each_thread_has_a_record_until_it_ends(tmp_path: Path) -> None:
    writer = CrumbWriter(tmp_path)
    for number in range(3 * SLOTS):
        slot = writer.take()
        writer.begin(slot.at, f"aten.op.x{number}()")
        writer.end(slot.at, FINISHED)
        del slot
    assert running(tmp_path) == [] and len(crumbs_of(tmp_path)) == 1
    slots = [writer.take() for _ in range(2 * SLOTS)]
    for slot in slots:
        writer.begin(slot.at, MM)
    assert len(running(tmp_path)) == SLOTS


def test_a_long_text_stays_in_its_slot(tmp_path: Path) -> None:
    writer = CrumbWriter(tmp_path)
    first, second = writer.take(), writer.take()
    writer.begin(second.at, MM)
    writer.begin(first.at, "aten.cat.default(" + 5000 * "ä")
    assert sorted(x.name for x in running(tmp_path)) == ["aten.cat.default", "aten.mm.default"]


def test_a_file_of_something_else_is_not_a_record(tmp_path: Path) -> None:
    (tmp_path / "12.crumbs").write_bytes(b"\xff" * 100)
    (tmp_path / "notes.crumbs").write_bytes(b"x" * 5000)
    assert crumbs_of(tmp_path) == []


def test_operators_are_recorded_while_they_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    weight = torch.ones(2, 3, requires_grad=True)
    seen: list[tuple[str, int]] = []

    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: object, gradient: torch.Tensor) -> torch.Tensor:
            return gradient * 3

    with OpBreadcrumbs(device="cpu"):
        (weight @ torch.ones(3, 4)).sum()
        seen += [(x.text, x.state) for x in crumbs_of(tmp_path)]
        Look.apply(weight).sum().backward()  # type: ignore[no-untyped-call]
        texts = [x.text for x in crumbs_of(tmp_path)]
        with pytest.raises(RuntimeError):
            torch.ones(2) @ torch.ones(3)
        seen += [(x.text, x.state) for x in crumbs_of(tmp_path)]
        weight.data.zero_()
    assert seen[0] == ("aten.sum.default(float32[2, 4])", FINISHED)
    assert any(text.endswith("in backward") for text in texts)
    assert seen[-1] == ("aten.dot.default(float32[2], float32[3])", RAISED)
    assert weight.sum() == 0


def test_a_forked_process_has_a_file_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    with OpBreadcrumbs(device="cpu") as tool:
        child = os.fork()
        if child == 0:
            tool.let_be()
            torch.ones(2) + 1
            os._exit(0)
        os.waitpid(child, 0)
    (crumb,) = [x for x in crumbs_of(tmp_path) if x.process == child]
    assert crumb.name == "aten.add.Tensor"


def test_the_operator_of_the_thread_with_the_signal_is_named(trail: Trail) -> None:
    writer = CrumbWriter(folder_of(trail))
    kept = [writer.take()]
    writer.begin(kept[0].at, MM)

    def other() -> None:
        kept.append(writer.take())
        writer.begin(kept[1].at, "aten.exp.default(float32[3])")

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    fatal = folder_of(trail) / f"{os.getpid()}{FATAL_SUFFIX}"
    notes = started(os.getpid())
    # Two operators were running, and no record says which one crashed.
    assert trail.dead(CRASHED, notes) is None
    fatal.write_text(
        f"Fatal Python error: Segmentation fault\n\nCurrent thread {thread.ident:#x} ("
    )
    found = trail.dead(CRASHED, notes)
    assert found is not None
    assert found.text() == "killed by SIGSEGV while aten.exp.default(float32[3]) ran"
    # A launcher then killed another rank, independent of its operator.
    rank = folder_of(trail) / "1.crumbs"
    rank.write_bytes((folder_of(trail) / f"{os.getpid()}.crumbs").read_bytes())
    found = trail.dead(1, [*notes, *started(1)])
    assert found is not None and found.name == "aten.exp.default"
    assert found.text().startswith(f"process {os.getpid()} was killed (Segmentation fault) while")
    rank.unlink()
    # A native thread crashed: the operators of other threads are not to blame.
    fatal.write_text("Fatal Python error: Aborted\n\nThread 0x1 (most recent call first):")
    assert trail.dead(128 + signal.SIGABRT, notes) is None


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (CRASHED, "killed by SIGSEGV while"),
        (3, "ended with exit status 3 while"),
        (0, "ended with exit status 0 in native code while"),
        (KILLED, ""),
        (128 + signal.SIGTERM, ""),
        (TIMED_OUT, ""),
    ],
)
def test_the_operator_that_ran_when_the_process_ended(trail: Trail, status: int, said: str) -> None:
    writer = CrumbWriter(folder_of(trail))
    slot = writer.take()
    writer.begin(slot.at, MM)
    found = trail.dead(status, started(os.getpid()))
    # The kernel kills a process if memory is short, and other processes stop a run that takes too
    # long.
    assert (found is not None and found.text().startswith(said)) if said else found is None
    # A process whose tools have stopped has finished its last operator.
    ended = [*started(os.getpid()), f"{ENDED}process {os.getpid()}"]
    assert trail.dead(status, ended) is None


def test_the_operator_that_ended_the_process_is_named(trail: Trail) -> None:
    writer = CrumbWriter(folder_of(trail))
    slot, other = writer.take(), writer.take()
    # The tools of such a process have stopped, and other threads may run an operator at its end.
    ended = [*started(os.getpid()), f"{ENDED}process {os.getpid()}"]

    def in_a_daemon() -> None:
        writer.begin(other.at, "aten.exp.default(float32[3])")

    thread = threading.Thread(target=in_a_daemon)
    thread.start()
    thread.join()
    writer.begin(slot.at, MM, ONLY_ON_DEVICE)
    assert trail.dead(0, ended) is None
    writer.leave(slot.at)
    writer.leave(other.at)
    found = trail.dead(0, ended)
    assert found is not None and found.crumb.only_on_device
    assert found.text() == f"ended by sys.exit or os._exit while {MM} ran"
    # SIGTERM from outside ends a program in any operator.
    assert trail.dead(128 + signal.SIGTERM, ended) is None
    writer.begin(slot.at, "c10d.barrier.default()")
    writer.leave(slot.at)
    assert trail.dead(0, ended) is None
    writer.end(slot.at, FINISHED)
    writer.leave(slot.at)
    assert [x.state for x in crumbs_of(folder_of(trail)) if x.name == "c10d.barrier.default"] == [
        FINISHED
    ]


@pytest.mark.parametrize("terminated", [False, True])
def test_an_operator_that_raises_system_exit_has_ended_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminated: bool
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr("dl_optools.breadcrumbs.recorder.is_terminated", lambda: terminated)

    class Exit(TorchDispatchMode):
        def __torch_dispatch__(self, *_: object) -> None:
            sys.exit(0)

    ones = torch.ones(3)
    with Exit(), OpBreadcrumbs(device="cpu"), pytest.raises(SystemExit):
        ones.mul(2)
    (crumb,) = crumbs_of(tmp_path)
    assert crumb.name == "aten.mul.Tensor" and crumb.state == (RAISED if terminated else LEFT)


def test_an_operator_that_runs_for_long_has_hung(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("time.monotonic_ns", lambda: int(now[0] * 1e9))
    with Trail(hang=100.0) as trail:
        writer = CrumbWriter(folder_of(trail))
        slot, other = writer.take(), writer.take()
        writer.begin(slot.at, "c10d.barrier.default()")
        writer.begin(other.at, MM)
        now[0] = 50.0
        assert not trail.is_stuck()
        found = trail.interrupted()
        assert found is not None and found.text() == f"stopped after 50 s while {MM} ran"
        now[0] = 101.0
        assert trail.is_stuck()
        writer.end(other.at, FINISHED)
        # Collectives wait for other processes.
        assert not trail.is_stuck() and trail.interrupted() is None


def test_control_characters_do_not_reach_the_terminal(trail: Trail) -> None:
    writer = CrumbWriter(folder_of(trail))
    slot = writer.take()
    writer.begin(slot.at, "aten.x.y('\x1b[2J')")
    writer.end(slot.at, RAISED)
    assert trail.last_raised() == "aten.x.y('\\x1b[2J')"
    writer.begin(slot.at, "aten.x.y('\x1b[2J')")
    found = trail.dead(3, started(os.getpid()))
    assert found is not None and "\x1b" not in found.text()
    assert [x.state for x in crumbs_of(folder_of(trail))] == [RUNNING]


def test_a_run_is_asked_whether_it_is_stuck() -> None:
    asked: list[None] = []

    def stuck() -> bool:
        asked.append(None)
        return len(asked) == 3

    def wait(seconds: float | None) -> int:
        assert seconds is not None and seconds <= 1
        raise TimeoutError

    with pytest.raises(TimeoutError):
        watch(wait, None, stuck, TimeoutError)
    assert len(asked) == 3
    assert watch(lambda seconds: 7, None, stuck, TimeoutError) == 7
