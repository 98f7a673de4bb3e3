"""Background writer of bundles: limits, quotas, and reports of dropped calls."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from bundle_cases import bundles, capture, captured, files
from dl_optools.bundle import payload
from dl_optools.capture.capture import OpCapture
from dl_optools.capture.limits import Limits, limits_of
from dl_optools.launching import autostart
from dl_optools.launching.launch import complaints
from dl_optools.launching.notes import VARIABLE, Notes
from dl_optools.options import OptionError
from dl_optools.outputs import ResultsError


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Payloads are written only after the event is set."""
    event = threading.Event()
    write = payload.write

    def later(*arguments: object) -> int:
        assert event.wait(60)
        return write(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(payload, "write", later)
    return event


def test_a_full_queue_drops_calls_and_counts_them(tmp_path: Path, gate: threading.Event) -> None:
    said = io.StringIO()
    tool = OpCapture(
        device="cpu", directory=tmp_path, limits=Limits(queue=2, wait=False), stream=said
    )
    with tool:
        for number in range(10):
            torch.full_like(torch.ones(3), number)
        gate.set()
    assert tool.results is not None
    dropped = tool.results.dropped["queue or memory full"]
    assert 7 <= dropped <= 8
    assert tool.results.calls == 10 - dropped == len(bundles(tmp_path))
    assert f"{dropped} x queue or memory full" in said.getvalue()
    assert json.loads((tmp_path / "capture.json").read_text())["dropped"] == {
        "queue or memory full": dropped
    }


def test_the_cap_on_memory_drops_calls(tmp_path: Path, gate: threading.Event) -> None:
    x = torch.ones(1000)

    def program() -> None:
        for _ in range(10):
            x.neg()
        gate.set()

    tool = capture(program, tmp_path, limits=Limits(memory=20_000, wait=False))
    assert tool.results is not None
    # Each call holds its input, the input after the call, and its result.
    assert tool.results.calls == 2
    assert tool.results.dropped == {"queue or memory full": 8}
    assert not tool.left_out  # Dropping was requested.


def test_a_program_that_waits_loses_nothing(tmp_path: Path) -> None:
    def program() -> None:
        for number in range(50):
            torch.full_like(torch.ones(1000), number)

    tool = capture(program, tmp_path, limits=Limits(queue=1, memory=100))
    assert tool.results is not None
    assert tool.results.calls == 50
    assert not tool.results.dropped and not tool.left_out


def test_the_disk_quota_holds(tmp_path: Path) -> None:
    def program() -> None:
        for number in range(20):
            torch.full_like(torch.ones(1000), number)

    tool = capture(program, tmp_path, limits=Limits(disk=30_000))
    assert tool.results is not None
    written = sum(path.stat().st_size for path in files(tmp_path) if path.name != "capture.json")
    assert written == tool.results.nbytes <= 30_000
    assert tool.results.calls == len(bundles(tmp_path)) > 0
    missing = 20 - tool.results.calls
    assert tool.results.dropped == {"disk quota": missing}
    assert tool.left_out == [
        f"results are lost: {missing} x disk quota of 30000 bytes; --disk sets it"
    ]


def test_a_command_reports_what_the_quota_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command's exit status depends on the reported losses."""
    limits = Limits(disk=100)
    tool = OpCapture(device="cpu", directory=tmp_path, limits=limits, stream=io.StringIO())
    monkeypatch.setattr(autostart, "_running", [tool.start()])
    monkeypatch.setattr(autostart, "_names", {tool: "capture"})
    monkeypatch.setattr(autostart, "_process", os.getpid())
    torch.ones(3).neg()
    with Notes() as notes:
        monkeypatch.setenv(VARIABLE, str(notes.path))
        autostart.stop()
        told = complaints(notes.lines())
    assert told == [
        "capture: results are lost: 1 x disk quota of 100 bytes; --disk sets it",
    ]


def test_gradients_count_against_the_quota_too(tmp_path: Path) -> None:
    x = torch.randn(3000, requires_grad=True)
    tool = capture(lambda: x.sigmoid().sum().backward(), tmp_path, limits=Limits(disk=36_000))
    assert tool.results is not None
    assert tool.results.dropped == {"gradients: disk quota": 1}
    assert len(tool.left_out) == 1
    (sigmoid,) = bundles(tmp_path, "torch.Tensor.sigmoid")
    assert sigmoid.document.gradients is None


def test_errors_of_the_disk_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(payload, "write", full)
    tool = OpCapture(directory=tmp_path, device="cpu", stream=io.StringIO()).start()
    torch.ones(2).neg()
    with pytest.raises(ResultsError, match=r"No space left on device \(1 x\)"):
        tool.stop()
    assert tool.results is not None
    assert tool.results.dropped == {"cannot be written: No space left on device": 1}
    assert bundles(tmp_path) == []


def test_a_fault_of_the_writer_reaches_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(payload, "write", broken)
    with pytest.raises(ZeroDivisionError):
        captured(lambda: [torch.ones(2).neg() for _ in range(500)], tmp_path)


def test_flush_waits_for_submitted_calls(tmp_path: Path) -> None:
    with OpCapture(device="cpu", directory=tmp_path, stream=io.StringIO()) as tool:
        torch.ones(2).neg()
        tool.flush()
        assert len(bundles(tmp_path)) == 1


def test_no_partial_files_are_left(tmp_path: Path) -> None:
    captured(lambda: torch.ones(2).neg(), tmp_path)
    assert {path.suffix for path in files(tmp_path)} == {".json", ".safetensors"}


def test_captured_calls_are_written_when_the_program_ends(tmp_path: Path) -> None:
    """Without stop(): the queue is written at exit."""
    program = (
        "import sys, torch\n"
        "from dl_optools import OpCapture\n"
        "tool = OpCapture(device='cpu', directory=sys.argv[1]).start()\n"
        "for n in range(100):\n"
        "    torch.full_like(torch.ones(1000), n)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(bundles(tmp_path)) == 100
    assert json.loads((tmp_path / "capture.json").read_text())["calls"] == 100


def test_a_forked_process_does_not_wait_for_a_thread_it_has_not(tmp_path: Path) -> None:
    with OpCapture(device="cpu", directory=tmp_path, limits=Limits(queue=1), stream=io.StringIO()):
        x = torch.ones(2)
        child = os.fork()
        if child == 0:
            for _ in range(5):
                x.neg()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    assert bundles(tmp_path) == []


def test_the_environment_sets_limits() -> None:
    assert limits_of({}) == Limits()
    environ = {
        "OP_CAPTURE_MEMORY": "500M",
        "OP_CAPTURE_DISK": "2.5g",
        "OP_CAPTURE_WHEN_FULL": "drop",
    }
    assert limits_of(environ) == Limits(memory=500 << 20, disk=5 << 29, wait=False)
    for name, text in (
        ("OP_CAPTURE_MEMORY", "much"),
        ("OP_CAPTURE_MEMORY", "-1"),
        ("OP_CAPTURE_DISK", "3X"),
        ("OP_CAPTURE_WHEN_FULL", "cry"),
    ):
        with pytest.raises(OptionError, match=name):
            limits_of({name: text})
