"""``dl monitor`` and ``dl roofline``."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import pytest

from dl_optools.commands.timing import MONITOR, ROOFLINE


def run(command: object, *words: str) -> int:
    parser = argparse.ArgumentParser()
    command.configure(parser)  # type: ignore[attr-defined]
    return int(command.run(parser.parse_args(words)))  # type: ignore[attr-defined]


def test_no_torch_before_a_command_runs() -> None:
    code = (
        "import argparse, sys; from dl_optools.commands.timing import MONITOR, ROOFLINE; "
        "[x.configure(argparse.ArgumentParser()) for x in (MONITOR, ROOFLINE)]; "
        "import dl_optools; dl_optools.ProcessMonitor; dl_optools.step; "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_roofline(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("dl_optools.timing.roofline._COPY_BYTES", 1 << 20)
    monkeypatch.setattr("dl_optools.timing.roofline._LARGEST", 512)
    assert run(ROOFLINE, "--device", "cpu", "--dtypes", "float32", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bandwidth"] > 0 and found["flops"]["float32"] > 0
    assert run(ROOFLINE, "--device", "cpu", "--dtypes", "float31") == 2
    assert "float31" in capsys.readouterr().err


def test_monitor_of_no_process(capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    assert run(MONITOR, "--pid", str(child.pid)) == 2
    assert "does not exist" in capsys.readouterr().err
