"""Tools of other plugins run by `dl tool`, like the tools of this package."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from dl_optools.launching.launch import TOOL_NAMES
from programs import dl, environment, script

COUNTER = """
    import pluggy
    from dl_core.contributions import Contribution

    def load():
        import atexit
        from torch.utils._python_dispatch import TorchDispatchMode

        class Count(TorchDispatchMode):
            calls = 0
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                self.calls += 1
                return function(*args, **(kwargs or {}))
            def __exit__(self, *error):
                print("counted", self.calls, flush=True)
                return super().__exit__(*error)

        return Count

    @pluggy.HookimplMarker("dl")
    def dl_op_tools():
        return [Contribution("count", "Count 100% of calls.", load)]
"""
PROGRAM = """
import torch
x = torch.ones(3)
for _ in range(4):
    x = torch.neg(x)
print(x.tolist())
"""


def add(folder: Path, wheel: str, source: str) -> None:
    """Install a plugin for the processes of this test."""
    site = folder / "site"
    environment(folder)
    (site / f"{wheel}_plugin.py").write_text(textwrap.dedent(source))
    information = site / f"{wheel}-1.2.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {wheel}\nVersion: 1.2\n")
    (information / "entry_points.txt").write_text(f"[dl]\n{wheel} = {wheel}_plugin\n")


def test_a_tool_of_a_plugin_runs_from_torchs_import_to_the_end(tmp_path: Path) -> None:
    add(tmp_path, "counter", COUNTER)
    program = script(tmp_path, PROGRAM)
    done = dl(tmp_path, "tool", "count", "--", sys.executable, program)
    assert done.returncode == 0, done.stderr
    numbers, counted = done.stdout.splitlines()
    # ones, four times neg, and what tolist reads.
    assert numbers == "[1.0, 1.0, 1.0]" and counted.startswith("counted ")
    assert int(counted.split()[1]) >= 5
    assert done.stderr == ""


def test_it_runs_together_with_a_tool_of_this_package(tmp_path: Path) -> None:
    add(tmp_path, "counter", COUNTER)
    program = script(tmp_path, PROGRAM)
    tools = ("tool", "count,capture", "--device", "cpu", "--list", "torch.neg")
    done = dl(tmp_path, *tools, "--", sys.executable, program)
    assert done.returncode == 0, done.stderr
    assert "counted " in done.stdout
    assert len(list((tmp_path / "results").rglob("bundle.json"))) == 4


def test_it_is_listed_and_options_of_others_are_refused(tmp_path: Path) -> None:
    add(tmp_path, "counter", COUNTER)
    help = dl(tmp_path, "tool", "--help").stdout
    assert "count     Count 100% of calls." in help and "capture" in help
    wrong = dl(tmp_path, "tool", "nonsense", "--", "true")
    assert wrong.returncode == 2 and "overflow, count" in wrong.stderr
    for option in ("--list", "--device"):
        done = dl(tmp_path, "tool", "count", option, "x", "--", "true")
        assert done.returncode == 2 and f"{option} is for capture" in done.stderr


def test_a_plugin_whose_hook_fails_is_one_warning_and_the_others_run(tmp_path: Path) -> None:
    add(tmp_path, "counter", COUNTER)
    broken = COUNTER.replace("return [Contribution", "raise OSError('gone'); return [Contribution")
    add(tmp_path, "broken", broken)
    done = dl(tmp_path, "tool", "count", "--", sys.executable, script(tmp_path, PROGRAM))
    assert done.returncode == 0 and "counted " in done.stdout
    (line,) = done.stderr.splitlines()
    assert "'broken' of broken 1.2" in line and "gone" in line and "DL_DISABLE=broken" in line


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            ("return Count\n", "return dict\n"),
            "its plugin returned {}, which is not a TorchDispatchMode",
        ),
        (("return Count\n", "raise RuntimeError('no licence')\n"), "no licence"),
    ],
)
def test_one_that_cannot_be_made_stops_the_program_at_once(
    tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    assert change[0] in COUNTER
    add(tmp_path, "counter", COUNTER.replace(*change))
    done = dl(tmp_path, "tool", "count", "--", sys.executable, script(tmp_path, PROGRAM))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"count does not run: {told}" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("name", [TOOL_NAMES[0].name, TOOL_NAMES[1].feature])
def test_a_name_of_this_package_is_taken(tmp_path: Path, name: str) -> None:
    add(tmp_path, "counter", COUNTER.replace('"count"', repr(name)))
    done = dl(tmp_path, "tool", "observe", "--", sys.executable, script(tmp_path, PROGRAM))
    assert f"counter 1.2 wants to add the tool '{name}', which is taken" in done.stderr


def test_a_plugin_that_is_left_out_adds_nothing(tmp_path: Path) -> None:
    add(tmp_path, "counter", COUNTER)
    done = dl(tmp_path, "tool", "count", "--", "true", DL_DISABLE="counter")
    assert done.returncode == 2 and "'count' is not a tool" in done.stderr
