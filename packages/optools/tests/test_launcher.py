from __future__ import annotations

import ast
import importlib
import re
import signal
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from dl_core.commands import Command
from dl_optools import plugin
from dl_optools.launching.launch import UnknownToolError, exact_patterns, program_of, tools_of
from dl_optools.selection import Selection
from programs import dl, environment, script

TRAINING = """
import sys, torch
layer = torch.nn.Linear(3, 2)
layer(torch.ones(4, 3)).sum().backward()
print("arguments", *sys.argv[1:])
sys.exit(3)
"""
PYTHON = sys.executable


def test_a_program_runs_under_several_tools(tmp_path: Path) -> None:
    program = script(tmp_path, TRAINING)
    tools = ("tool", "capture,fallback", "--device", "cpu", "--list", "torch.nn.functional.linear")
    done = dl(tmp_path, *tools, "--", PYTHON, program, "--lr", "1")
    assert done.returncode == 3
    assert done.stdout == "arguments --lr 1\n"
    assert f"results are in {tmp_path / 'results'}" in done.stderr
    bundles = list((tmp_path / "results").rglob("bundle.json"))
    assert [x.parent.parent.name for x in bundles] == ["torch.nn.functional.linear"]


def test_results_stay_together_if_the_program_changes_its_directory(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    program = script(tmp_path, "import os; os.chdir('elsewhere')\n" + TRAINING)
    done = dl(
        tmp_path, "tool", "capture", "--device", "cpu", "--output", "here", "--", PYTHON, program
    )
    assert done.returncode == 3 and list((tmp_path / "here").rglob("bundle.json"))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_tools_see_devices_of_entry_points_that_come_later(tmp_path: Path) -> None:
    # Devices are registered at the end of the import of torch.
    program = script(
        tmp_path,
        "import torch\nfrom dl_optools.launching import autostart\n"
        "print(torch.__spec__.__class__.__name__, len(autostart._running))\n",
    )
    done = dl(tmp_path, "tool", "fallback", "--", PYTHON, "-W", "error", program)
    assert (done.returncode, done.stdout) == (0, "ModuleSpec 1\n"), done.stderr


def test_without_the_variable_nothing_is_imported(tmp_path: Path) -> None:
    code = "import torch, sys; print([x for x in sys.modules if x.startswith('dl_optools')])"
    done = subprocess.run(
        [PYTHON, "-c", code], env=environment(tmp_path), text=True, capture_output=True
    )
    # The plugin is for dl-core, which may not be installed.
    few = {"", "._version", "._entry", ".environment", ".plugin"}
    found = {name.removeprefix("dl_optools") for name in ast.literal_eval(done.stdout)}
    assert "._entry" in found and found <= few


def test_commands_import_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys, argparse; from dl_optools.plugin import dl_cli_commands\n"
        "for x in dl_cli_commands(): x.configure(argparse.ArgumentParser())\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [PYTHON, "-c", code], env=environment(tmp_path), text=True, capture_output=True
    )
    assert done.stdout == "False\n", done.stderr


@pytest.mark.parametrize(
    ("tool", "options", "said"),
    [
        ("capture", ("--list", "("), r"OP_CAPTURE_LIST.*'\(' is not a regular expression"),
        ("observe,time", ("--budget", "much"), "OP_OBSERVE_BUDGET='much' is invalid. Allowed"),
        ("fallback", ("--device", "npu"), r"\[OpFallback\] device='npu' is not a type of device"),
    ],
)
def test_options_that_do_not_fit_stop_the_program_at_once(
    tmp_path: Path, tool: str, options: tuple[str, ...], said: str
) -> None:
    program = script(tmp_path, TRAINING)
    command = ("--device", "cpu", *options, "--", PYTHON, "-W", "error", program)
    done = dl(tmp_path, "tool", tool, *command)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert re.search(said, done.stderr) and "Traceback" not in done.stderr


def test_without_the_command_a_program_runs_without_failed_tools(tmp_path: Path) -> None:
    program = script(tmp_path, TRAINING)
    variables = {"DL_TOOLS": "capture", "OP_CAPTURE_LIST": "("}
    done = subprocess.run(
        [PYTHON, program],
        env={**environment(tmp_path), **variables},
        text=True,
        capture_output=True,
    )
    assert (done.returncode, done.stdout) == (3, "arguments\n")
    assert "capture does not run: [OpCapture (OP_CAPTURE_LIST)]" in done.stderr


def test_names_that_no_operator_has_are_reported(tmp_path: Path) -> None:
    program = script(tmp_path, TRAINING.replace("exit(3)", "exit(0)"))
    lineer = "torch.nn.functional.lineer"
    said = f"the program called no operator that '{lineer}' matches; did you mean {lineer[:-2]}ar?"
    tool = ("tool", "fallback", "--device", "cpu", "--list")
    done = dl(tmp_path, *tool, lineer, "--", PYTHON, program)
    assert done.returncode == 2 and f"dl tool: fallback: {said}" in done.stderr
    done = dl(tmp_path, *tool, f"{lineer},.*sum", "--", PYTHON, program)
    assert done.returncode == 0 and said in done.stderr


def test_forked_processes_leave_observing_to_their_parent(tmp_path: Path) -> None:
    program = script(
        tmp_path,
        """
import os, torch
x = torch.ones(2)
child = os.fork()
if not child:
    # The child has no writer thread: a call that waits for it would never return.
    for _ in range(200):
        x = x * 2
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
torch.neg(x)
""",
    )
    done = dl(
        tmp_path,
        *("tool", "capture", "--device", "cpu", "--list", "torch.(Tensor.)?(mul|neg|__mul__)"),
        *("--memory", "1000", "--", PYTHON, program),
    )
    assert done.returncode == 0, done.stderr
    names = [x.parent.parent.name for x in (tmp_path / "results").rglob("bundle.json")]
    assert names == ["torch.neg"]


@pytest.mark.parametrize(
    "end",
    [
        "os._exit(0)",
        "os.execvp('true', ['true'])",
        "end = threading.Thread(target=os._exit, args=(0,)); end.start(); end.join()",
    ],
)
def test_results_survive_an_exit_without_atexit(tmp_path: Path, end: str) -> None:
    program = script(tmp_path, f"import os, threading, torch\ntorch.neg(torch.ones(2))\n{end}\n")
    options = ("--device", "cpu", "--list", "torch.neg")
    done = dl(tmp_path, "tool", "capture", *options, "--", PYTHON, program)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert len(list((tmp_path / "results").rglob("bundle.json"))) == 1


def test_lost_results_are_not_a_success(tmp_path: Path) -> None:
    # An exit in native code runs no Python.
    text = "import posix, torch\ntorch.neg(torch.ones(2))\nposix._exit(0)\n"
    program = script(tmp_path, text)
    kept = tmp_path / "baseline.json"
    options = ("--device", "cpu", "--save-baseline", str(kept))
    done = dl(tmp_path, "tool", "compare", *options, "--", PYTHON, program)
    assert done.returncode == 2 and "what compare found in process" in done.stderr
    assert "is lost" in done.stderr and not kept.exists()


def test_threads_are_looked_at_and_forked_children_are_counted(tmp_path: Path) -> None:
    program = script(
        tmp_path,
        """
import os, threading, torch
def work(count):
    x = torch.ones(2)
    for _ in range(count):
        x = torch.neg(x)
child = os.fork()
if not child:
    work(40)
    os._exit(0)
os.waitpid(child, 0)
thread = threading.Thread(target=work, args=(1,))
thread.start(); thread.join()
""",
    )
    done = dl(tmp_path, "tool", "compare", "--device", "cpu", "--", PYTHON, program)
    assert "aten.neg.default " in done.stderr
    # Most of the program was not checked, so that the absence of findings means nothing.
    said = "1 forked process made 41 calls on the device; compare did not see them"
    assert done.returncode == 2 and said in done.stderr, done.stderr


WAITS = """
import torch, threading
torch.neg(torch.ones(2))
print("ready", flush=True)
threading.Event().wait()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_program_ends_with_the_command_that_started_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    command = ["tool", "capture", "--device", "cpu", "--list", "torch.neg", "--", PYTHON]
    with subprocess.Popen(
        [PYTHON, "-m", "dl_core.cli", *command, script(tmp_path, WAITS)],
        env=environment(tmp_path),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        assert running.stdout is not None and running.stdout.readline() == "ready\n"
        running.send_signal(number)
        # The pipe ends when the last process that has it open ends.
        said = running.stdout.read()
    assert running.returncode == (143 if number is signal.SIGTERM else -9), said
    # Results until then are preserved.
    assert len(list((tmp_path / "results").rglob("bundle.json"))) == 1


def test_processes_of_multiprocessing_have_results(tmp_path: Path) -> None:
    program = script(
        tmp_path,
        """
import multiprocessing, torch
def work(): torch.neg(torch.ones(2))
if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=work)
    process.start(); process.join(); assert process.exitcode == 0
""",
    )
    options = ("--device", "cpu", "--list", "torch.neg")
    done = dl(tmp_path, "tool", "capture", *options, "--", PYTHON, program)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "results").rglob("bundle.json"))) == 1


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (["capture"], 2, "no program given"),
        (["nonsense", "--", "true"], 2, "'nonsense' is not a tool; the tools are capture, compare"),
        (["fallback", "--disk", "1G", "--", "true"], 2, "--disk is for capture"),
        (["capture", "--set", "X", "--", "true"], 2, "write NAME=VALUE"),
        (["capture", "--", "no-such-program"], 127, "no-such-program: No such file"),
        (["capture", "--", "true"], 2, "no tool ran"),
        (["capture", "--", "sh", "-c", "kill -9 $$"], 137, "no tool ran"),
    ],
)
def test_wrong_use_is_reported(
    tmp_path: Path, arguments: list[str], status: int, text: str
) -> None:
    done = dl(tmp_path, "tool", *arguments)
    assert done.returncode == status and text in done.stderr


def test_options_may_stand_before_and_behind_the_name(tmp_path: Path) -> None:
    program = ("--", "sh", "-c", "echo $DL_TOOLS $OP_CAPTURE_LIST $OP_FALLBACK_LIST $X $0", "--a")
    names = "capture,fallback"
    expected = "capture,fallback x.* x.* 7 --a\n"
    assert dl(tmp_path, "tool", "--list", "x.*", names, "--set", "X=7", *program).stdout == expected
    assert dl(tmp_path, "tool", names, "--list", "x.*", "--set=X=7", *program).stdout == expected


def test_tools_are_known_by_command_and_feature() -> None:
    assert [x.name for x in tools_of("observe, op_capture")] == ["observe", "capture"]
    with pytest.raises(UnknownToolError, match="no tool is named"):
        tools_of(" ,")


def test_exact_lists_match_these_names_only() -> None:
    names = ["aten.add.Tensor", "a,b", "torch.Tensor.__getitem__"]
    chosen = Selection.of(exact_patterns(names))
    assert all(name in chosen for name in names if "," not in name)
    assert "aten_add.Tensor" not in chosen and "aten.add.Tensor2" not in chosen


def test_program_of_command_lines() -> None:
    assert program_of(["--a", "--", "p", "--", "q"]) == (["--a"], ["p", "--", "q"])
    assert program_of(["p", "--", "q"]) == ([], ["p", "--", "q"])
    assert program_of(["--a"]) == (["--a"], [])


def test_plugin_lists_every_command_once() -> None:
    commands = plugin.dl_cli_commands()
    names = [command.name for command in commands]
    assert len(names) == len(set(names)) and {"tool", "bisect", "replay", "bundle"} <= set(names)
    assert all(isinstance(command, Command) for command in commands)


def test_action_at_the_end_of_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slowly_imported.py").write_text(
        "from dl_optools.launching.when_imported import when_imported\n"
        "order = []\n"
        "when_imported(__name__, lambda: order.append('action'))\n"
        "order.append('last line')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("slowly_imported")
    assert module.order == ["last line", "action"]
    assert type(module.__spec__) is ModuleSpec
