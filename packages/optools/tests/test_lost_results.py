"""Results that cannot be written are reported, also by the command's exit code."""

from __future__ import annotations

import argparse
import csv
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from dl_core.commands_builtin import BUILTIN
from dl_optools.csv_file import CsvFile
from dl_optools.features import TOOLS, make_tool
from dl_optools.launching.launch import TOOL_NAMES
from dl_optools.launching.notes import VARIABLE, Notes, note
from dl_optools.monitor.process_monitor import ProcessMonitor
from dl_optools.outputs import ResultsError
from dl_optools.patching import apply_feature
from dl_optools.plugin import dl_cli_commands
from programs import dl, script

WRITING = [x.feature for x in TOOL_NAMES if x.name != "fallback"]
FULL = Path("/dev/full")


def options(feature: str) -> dict[str, Any]:
    found: dict[str, Any] = {"device": "cpu"}
    if feature != "autocompare":
        found["stream"] = io.StringIO()
    return found


def test_all_tools_but_one_have_results() -> None:
    assert {*WRITING, "fallback"} == set(TOOLS)


@pytest.mark.parametrize("feature", WRITING)
def test_a_tool_whose_results_have_no_place_does_not_start(
    feature: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failure is detected at the start rather than at the program's end."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("DL_TOOLS_OUTPUT", str(tmp_path / "file"))
    tool = make_tool(feature, **options(feature))
    with pytest.raises(ResultsError, match=r"no results can be written to .*/file/op_\w+_result"):
        tool.start()
    assert not tool.running
    (tmp_path / "file").unlink()
    with tool:
        torch.ones(2).exp()


@pytest.mark.parametrize("feature", ["dump_op_args", "cast_dtype"])
def test_results_that_find_no_space_are_shown_all_the_same(
    feature: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = make_tool(feature, **options(feature))
    x = torch.ones(2, dtype=torch.float16)
    tool.start()
    tool._path = FULL  # type: ignore[attr-defined]
    torch.exp(x)
    with pytest.raises(ResultsError, match="results are lost: /dev/full: No space left on device"):
        tool.stop()
    shown: io.StringIO = tool._stream  # type: ignore[attr-defined]
    assert "exp" in shown.getvalue() and "not (all) written to /dev/full" in shown.getvalue()
    # A tool can be started again.
    with tool:
        torch.exp(x)
    assert tool.losses == []


def test_a_feature_reports_lost_results() -> None:
    applied = apply_feature("torch.exp", "dump_op_args", **options("dump_op_args"))
    applied.tool._path = FULL  # type: ignore[attr-defined]
    torch.exp(torch.ones(2))
    with pytest.raises(ResultsError, match="No space left"):
        applied.undo()


def test_rows_that_find_no_space_do_not_stop_the_program(tmp_path: Path) -> None:
    file = CsvFile(FULL, ("a", "b"), 2)
    for number in range(5):
        file.add([(number, number)])
    file.close()
    assert file.losses == ["5 rows of /dev/full: No space left on device"]
    right = CsvFile(tmp_path / "x.csv", ("a", "b"), 2)
    right.add([(1, 2)])
    assert right.close() and right.losses == []


LIMITED = """
import resource, torch
x = torch.ones(300, 300, requires_grad=True)
half = torch.ones(2, dtype=torch.float16)
resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
y = torch.log(x - 2).sum()
y.backward()
half.exp()
print("done")
"""


def test_every_tool_says_that_a_limit_on_files_took_its_results(tmp_path: Path) -> None:
    names = [x.name for x in TOOL_NAMES if x.feature in WRITING]
    program = script(tmp_path, LIMITED)
    command = ("--device", "cpu", "--sample", "1", "--", sys.executable, program)
    done = dl(tmp_path, "tool", ",".join(names), *command)
    assert (done.returncode, done.stdout) == (2, "done\n"), done.stderr
    for name in names:
        assert f"dl tool: {name} failed at its end: [Op" in done.stderr, done.stderr
    assert done.stderr.count("File too large") >= len(names)
    assert "Traceback" not in done.stderr


KILLED = """
import os, signal, torch, dl_optools
from dl_optools.timing import time_measure

# Each step flushes the results; only those after the last step are lost.
time_measure.FLUSH_SECONDS = 0.0
x = torch.ones(16, 16)
for step in range(6):
    x.neg()
    dl_optools.step()
x.tan()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_program_loses_at_most_the_last_flush_of_time(tmp_path: Path) -> None:
    options = ("--device", "cpu", "--budget", "off")
    done = dl(tmp_path, "tool", "time", *options, "--", sys.executable, script(tmp_path, KILLED))
    assert done.returncode == 137, done.stderr
    (calls,) = (tmp_path / "results").rglob("op_elapsed_info_*.csv")
    names = [line.partition(",")[0] for line in calls.read_text().splitlines()]
    # The first step is cold, and obsolete once there is a warm one.
    assert names.count("torch.Tensor.neg") == 5 and "torch.Tensor.tan" not in names
    (summary,) = (tmp_path / "results").rglob("op_time_summary_*.csv")
    with summary.open(newline="", encoding="utf-8") as file:
        rows = [x for x in csv.DictReader(file) if x["operator"] == "torch.Tensor.neg"]
    assert [int(x["calls"]) for x in rows] == [5]


def test_a_folder_that_takes_nothing_stops_the_program_at_once(tmp_path: Path) -> None:
    program = script(tmp_path, LIMITED)
    (tmp_path / "results").touch()
    done = dl(tmp_path, "tool", "observe", "--device", "cpu", "--", sys.executable, program)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert f"no results can be written to {tmp_path}/results/op_observe_result" in done.stderr
    assert "dl tool --output" in done.stderr and "Traceback" not in done.stderr


def test_dl_monitor_says_that_its_samples_are_lost(tmp_path: Path) -> None:
    (tmp_path / "results").touch()
    pid = ("--pid", str(os.getpid()), "--duration", "0.1", "--no-devices")
    done = dl(tmp_path, "monitor", *pid)
    assert done.returncode == 2 and "no results can be written to" in done.stderr
    assert "Traceback" not in done.stderr
    monitor = ProcessMonitor(devices=False, directory=tmp_path / "own")
    monitor.path = FULL
    with pytest.raises(ResultsError, match="/dev/full: No space left on device"):
        monitor.stop()
    assert monitor.samples


def test_notes_arrive_whole_and_in_order() -> None:
    long = "x" * 100_000
    with Notes() as notes:
        for text in ("first", long, "last"):
            note({VARIABLE: str(notes.path)}, text)
        assert notes.lines() == ["first", long, "last"]
    assert not notes.path.parent.exists()


def test_notes_without_a_reader_go_to_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command has ended before a process of the program has."""
    os.mkfifo(tmp_path / "notes")
    for place in ("notes", "gone"):
        note({VARIABLE: str(tmp_path / place)}, place)
    assert capsys.readouterr().err == "dl-optools: notes\ndl-optools: gone\n"


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from parsers(one)


def test_every_command_with_an_output_path_asks_for_force() -> None:
    asking = set()
    for command in (*BUILTIN, *dl_cli_commands()):
        top = argparse.ArgumentParser(prog=command.name)
        command.configure(top)
        for parser in parsers(top):
            names = {action.dest: action for action in parser._actions}
            written = {
                name
                for name in ("output", "json", "state", "save_baseline", "report")
                if getattr(names.get(name), "type", 0)
            }
            assert bool(written) == ("force" in names), parser.prog
            asking.update(parser.prog for _ in written)
    assert asking == {
        *("bisect", "coverage", "doctor", "one-iter compare", "tool"),
        *("bundle to-repro", "bundle to-bench", "bundle to-conformance", "bundle pack"),
    }
