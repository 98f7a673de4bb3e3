"""Memory over time, by a clock that the test controls."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dl_optools.monitor import process_monitor
from dl_optools.monitor.process_monitor import ProcessMonitor, host_memory
from dl_optools.monitor.samples import COLUMNS


class Memory:
    name = "toy:0"

    def __init__(self) -> None:
        self.reserved = 0.0

    def read(self) -> dict[str, float | None]:
        self.reserved += 8
        return {
            "device_allocated": self.reserved / 2,
            "device_reserved": self.reserved,
            "device_used": None,
            "device_total": 64.0,
        }


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_samples_are_written_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_monitor, "_devices", lambda own: [Memory()])
    moments = iter([100.0, 100.0, 101.5, 103.0])
    monitor = ProcessMonitor(directory=tmp_path, label="run 1/a", clock=lambda: next(moments))
    assert monitor.sample() and monitor.sample()
    monitor.stop()
    name = rf"process_monitor_result_toy_pid{os.getpid()}_run_1_a_\d{{8}}_\d{{6}}\.csv"
    assert re.fullmatch(name, monitor.path.name)
    rows = rows_of(monitor.path)
    assert [row["seconds"] for row in rows] == ["0.000", "1.500", "3.000"]
    assert [row["device_reserved"] for row in rows] == ["8.000", "16.000", "24.000"]
    assert {row["device_used"] for row in rows} == {""}
    assert all(float(row["host_rss"]) > 1 for row in rows)
    assert tuple(rows[0]) == COLUMNS
    page = monitor.path.with_suffix(".html").read_text(encoding="utf-8")
    # Two charts, each for wide and for narrow windows.
    assert page.count("<svg") == 2 * 2 and "24 MiB" in page


def test_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("label", "night")
    monkeypatch.setenv("OP_TOOLS_MAX_CACHE_SIZE", "3")
    monkeypatch.setenv("DL_TOOLS_OUTPUT", str(tmp_path))
    monitor = ProcessMonitor(devices=False)
    assert monitor.path.parent == tmp_path / "process_monitor_result"
    assert monitor.path.name.startswith(f"process_monitor_result_host_pid{os.getpid()}_night_")
    monitor.sample()
    monitor.sample()
    assert not monitor.path.exists()
    monitor.sample()
    assert len(rows_of(monitor.path)) == 3


def test_a_thread_looks_until_it_is_stopped(tmp_path: Path) -> None:
    monitor = ProcessMonitor(interval=3600, devices=False, directory=tmp_path)
    with monitor, pytest.raises(RuntimeError, match="already running"):
        monitor.start()
    # One sample at the start, perhaps one at the end: stopping does not wait for the interval.
    assert 1 <= len(monitor.samples) <= 2
    assert len(rows_of(monitor.path)) == len(monitor.samples)


def test_it_ends_with_the_process(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        monitor = ProcessMonitor(child.pid, devices=False, directory=tmp_path)
        assert monitor.sample()
        assert child.stdin is not None
        child.stdin.close()
        child.wait()
        assert not monitor.sample()
        # The process is gone: the thread ends by itself.
        monitor.start().wait()
        monitor.stop()
    assert len(monitor.samples) == 1


def test_processes_that_are_not_there() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    assert host_memory(child.pid) is None
    with pytest.raises(ProcessLookupError, match=str(child.pid)):
        ProcessMonitor(child.pid)
    with pytest.raises(ValueError, match="interval"):
        ProcessMonitor(interval=0)


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DL_TOOLS_OUTPUT", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        started = [*sys.orig_argv[:1], "-m", "dl_optools.monitor.process_monitor"]
        command = [*started, "--pid", str(child.pid), "--interval", "0.01", "--no-devices"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as looking:
            while not list(tmp_path.glob("*/*.csv")) and looking.poll() is None:
                pass
            assert child.stdin is not None
            child.stdin.close()
            child.wait()
            said = io.StringIO(looking.communicate()[0]).readlines()
    assert looking.returncode == 0
    assert rows_of(Path(said[0].strip()))[0]["pid"] == str(child.pid)
    assert Path(said[1].strip()).exists()
