"""A crash, a hang or an exit in an operator: `dl diagnose` and `dl bisect` name the operator."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dl_optools.bisect.bisection import Bisection
from dl_optools.bisect.program_runner import ProgramRunner
from dl_optools.bisect.runs import Outcome, StuckError
from dl_optools.bisect.search import Elements
from dl_optools.bisect.starter import Starter
from dl_optools.bisect.state import State
from dl_optools.bisect.verdict import Criteria
from dl_optools.breadcrumbs.crumb_file import RUNNING, Crumb
from dl_optools.breadcrumbs.trail import DeadOperator
from dl_optools.diagnosis.deaths import confirm
from dl_optools.diagnosis.diagnosis import Diagnosis, diagnose
from dl_optools.diagnosis.report import list_workarounds, verdict
from dl_optools.diagnosis.runs import Run, Runner
from dl_optools.launching.launch import DEVICE_VARIABLE
from programs import environment, script

PROGRAM = """
import os, signal, sys, threading, torch
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

def end(how):
    if how == "crash": signal.raise_signal(signal.SIGSEGV)
    if how == "leave": os.kill(os.getpid(), signal.SIGKILL)
    if how == "hang": threading.Event().wait()
    if how == "exit": sys.exit(0)
    if how == "_exit": os._exit(0)
    if how == "exec": os.execv("/bin/true", ["true"])

class Device(TorchDispatchMode):
    # Below the tools, as a device is; one operator does not return.
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if str(func) == name and result.dim() == 2:
            end(how)
        return result

name, how, where = os.environ["DEATH"].split()
def work(x):
    above = [_python_dispatch._pop_mode() for _ in range(torch._C._len_torch_dispatch_stack())]
    Device().__enter__()
    for mode in reversed(above):
        _python_dispatch._push_mode(mode)
    y = torch.nn.functional.gelu(x * 2)
    y.sum().backward()
    print("loss", y.sum().item(), flush=True)

def run():
    work(torch.ones(3, 4, requires_grad=True))

torch.ones(3).mul(2)
if where == "thread":
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
elif where == "child" and (child := os.fork()):
    sys.exit(os.waitpid(child, 0)[1] != 0)
else:
    run()
    if where == "child":
        os._exit(0)
"""


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starter]:
    """All programs of this file are forks of one process."""
    folder = tmp_path_factory.mktemp("deaths")
    command = [sys.executable, script(folder, PROGRAM)]
    made = Starter(command, {**environment(folder), DEVICE_VARIABLE: "cpu"}, None)
    yield made
    made.close()


def diagnosed(starter: Starter, folder: Path, death: str, hang: float = 600.0) -> Diagnosis:
    environ = {**environment(folder), DEVICE_VARIABLE: "cpu", "DEATH": death}
    runner = Runner(starter._command, environ, folder, None, hang, starter)
    return diagnose(runner, lambda _: None, quick=True)


@pytest.mark.parametrize("where", ["main", "thread", "child"])
def test_the_operator_of_a_crash_is_named(starter: Starter, tmp_path: Path, where: str) -> None:
    found = diagnosed(starter, tmp_path, f"aten.gelu.default crash {where}")
    assert verdict(found).startswith("aten.gelu.default does not return on this device.")
    (guilty,) = found.guilty
    assert "while aten.gelu.default(float32[3, 4]) ran (call " in guilty.evidence[0]
    assert guilty.evidence[1] == "with it on the CPU the program ends normally"
    assert "--list 'aten\\.gelu\\.default'" in list_workarounds(found)[0]


@pytest.mark.parametrize("death", ["exit main", "_exit main", "_exit thread", "exec main"])
def test_an_operator_that_ends_the_process_normally_is_named(
    starter: Starter, tmp_path: Path, death: str
) -> None:
    found = diagnosed(starter, tmp_path, f"aten.gelu.default {death}")
    assert verdict(found).startswith("aten.gelu.default does not return on this device.")
    (guilty,) = found.guilty
    assert "was ended by sys.exit or os._exit while aten.gelu.default(" in guilty.evidence[0]
    assert guilty.evidence[1] == "with it on the CPU the program ends normally"


def test_the_operator_of_a_crash_in_backward_is_named(starter: Starter, tmp_path: Path) -> None:
    found = diagnosed(starter, tmp_path, "aten.gelu_backward.default crash main")
    assert [x.name for x in found.guilty] == ["aten.gelu_backward.default"]
    assert "in backward ran" in found.guilty[0].evidence[0]


def test_the_operator_of_a_hang_is_named(starter: Starter, tmp_path: Path) -> None:
    found = diagnosed(starter, tmp_path, "aten.gelu.default hang main", hang=1.0)
    assert [x.name for x in found.guilty] == ["aten.gelu.default"]
    assert "stopped after" in found.guilty[0].evidence[0]


def test_an_operator_killed_from_outside_is_not_accused(starter: Starter, tmp_path: Path) -> None:
    found = diagnosed(starter, tmp_path, "aten.gelu.default leave main")
    assert found.guilty == []
    assert "killed by SIGKILL" in found.unable


def dead(
    name: str, how: str = "killed by SIGSEGV", *, only_on_device: bool = False
) -> DeadOperator:
    text = f"{name}(float32[2])"
    return DeadOperator(Crumb(1, 1, 1, RUNNING, 0.0, text, only_on_device), how)


class Dying:
    """A runner whose runs die in operators, one after the other."""

    def __init__(self, folder: Path, *deaths: DeadOperator | None) -> None:
        self.command, self.folder, self.stopped = ["python", "x.py"], folder, 0
        self.environ: dict[str, str] = {}
        self.deaths, self.asked = list(deaths), list[tuple[str, dict[str, str]]]()

    def run(self, tools: str, **variables: str) -> Run:
        self.asked.append((tools, variables))
        death = self.deaths.pop(0)
        return Run(139 if death else 0, "", self.folder / "run.log", dead=death)


def test_two_runs_that_die_in_different_operators_accuse_none(tmp_path: Path) -> None:
    names = ("aten.exp.default", "aten.mm.default", "aten.sin.default")
    runner = Dying(tmp_path, *map(dead, names))
    found = diagnose(runner, lambda _: None)  # type: ignore[arg-type]
    assert found.guilty == [] and "no two runs died in the same operator" in found.notes[0]
    # The confirming runs have no other tools, and wait for every operator.
    assert [tools for tools, _ in runner.asked[1:]] == ["", ""]
    assert runner.asked[1][1]["DL_TOOLS_SYNCHRONOUS"] == "1"


def test_an_operator_that_dies_only_in_runs_with_tools_is_named(tmp_path: Path) -> None:
    """Tools call some operators twice, so that without tools there may be no 17th call."""
    runner = Dying(tmp_path, None, None, dead("aten.mm.default"))
    first = Run(139, "", tmp_path / "run.log", dead=dead("aten.mm.default"))
    found, notes = confirm(
        runner,  # type: ignore[arg-type]
        first,
        [],
        lambda _: None,
        repeat=lambda: runner.run("compare"),
    )
    assert found is not None and found.name == "aten.mm.default" and notes == []
    assert [tools for tools, _ in runner.asked] == ["", "", "compare"]


def test_a_death_that_comes_later_on_a_device_in_the_background(tmp_path: Path) -> None:
    later, guilty = dead("aten.add.Tensor"), dead("aten.mm.default", only_on_device=True)
    found = diagnose(Dying(tmp_path, later, guilty, guilty), lambda _: None)  # type: ignore[arg-type]
    assert [x.name for x in found.guilty] == ["aten.mm.default"]
    assert "cannot fall back" in list_workarounds(found)[0]


def test_several_operators_that_die_are_named_one_after_the_other(tmp_path: Path) -> None:
    one, two = dead("aten.exp.default"), dead("aten.mm.default")
    found = diagnose(Dying(tmp_path, one, one, two, two, None), lambda _: None)  # type: ignore[arg-type]
    assert verdict(found).startswith(
        "aten.exp.default and aten.mm.default do not return on this device."
    )
    assert found.guilty[1].evidence[1] == "with it on the CPU the program ends normally"


OPERATORS = ("aten.exp.default", "aten.mm.default")


class Model:
    """Runs of a program in which one operator on the device dies, or makes the metric wrong."""

    def __init__(
        self, name: str, *, always: bool = False, dies: bool = True, status: int = 139
    ) -> None:
        self.name, self.always, self.dies, self.status = name, always, dies, status

    def _outcome(self, on_device: Elements) -> Outcome:
        if self.always or self.name in on_device:
            if not self.dies:
                return Outcome(0, "loss 1.6", OPERATORS)
            return Outcome(self.status, "", OPERATORS, dead=dead(self.name))
        return Outcome(0, "loss 1.5", OPERATORS)

    def collect(self, log: Path) -> Outcome:
        return self._outcome(frozenset([self.name]))

    def run(self, on_device: Elements, log: Path) -> Outcome:
        return self._outcome(on_device)

    def capture(self, operators: Elements, directory: Path, log: Path) -> bool:
        return True


def bisection(model: Model, folder: Path, said: list[str]) -> Bisection:
    state = State(["x"], "dispatch", None, Criteria(metric="loss").as_json(), str(folder))
    return Bisection(state, folder / "state.json", model, said.append)


def test_a_bisection_says_which_operator_ran(tmp_path: Path) -> None:
    said: list[str] = []
    search = bisection(Model("aten.mm.default"), tmp_path, said)
    assert search.find().groups == (("aten.mm.default",),)
    assert "wrong, killed by SIGSEGV while aten.mm.default(float32[2]) ran" in said[0]
    state = State.load(tmp_path / "state.json")
    assert state.verdict == [["aten.mm.default"]]
    assert state.runs[0].died_in == "aten.mm.default(float32[2])"
    # Correct earlier calls do not clear an operator whose last call did not return.
    assert not search.is_numerical()


def test_a_bisection_finds_an_operator_that_ends_the_program_normally(tmp_path: Path) -> None:
    said: list[str] = []
    model = Model("aten.mm.default", status=0)
    assert bisection(model, tmp_path, said).find().groups == (("aten.mm.default",),)
    assert "wrong, killed by SIGSEGV while aten.mm.default(float32[2]) ran" in said[0]


def test_the_state_of_an_acquittal_blames_no_operator(tmp_path: Path) -> None:
    search = bisection(Model("aten.mm.default", dies=False), tmp_path, [])
    assert search.find().groups == (("aten.mm.default",),)
    assert search.is_numerical()
    search.acquit()
    assert State.load(tmp_path / "state.json").verdict == []


def test_a_bisection_names_operators_that_cannot_fall_back(tmp_path: Path) -> None:
    model = Model("aten._fused_attention.default", always=True)
    search = bisection(model, tmp_path, [])
    with pytest.raises(StuckError, match=r"aten\._fused_attention\.default.* cannot fall back"):
        search.find()
    assert State.load(tmp_path / "state.json").verdict == [["aten._fused_attention.default"]]


def test_a_run_of_a_bisection_that_hangs_names_the_operator(tmp_path: Path) -> None:
    variables = {**environment(tmp_path), "DEATH": "aten.gelu.default hang main"}
    command = [sys.executable, script(tmp_path, PROGRAM)]
    runner = ProgramRunner(command, "dispatch", "cpu", variables, hang=2.0)
    try:
        outcome = runner.collect(tmp_path / "run.log")
    finally:
        runner.close()
    assert outcome.timed_out and outcome.dead is not None
    assert outcome.dead.name == "aten.gelu.default"
