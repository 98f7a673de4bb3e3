from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import torch

from conftest import accelerators
from dl_optools import OpCapture
from dl_optools.bisect.accuracy import calls_are_right, format_message
from dl_optools.bisect.bisection import Bisection
from dl_optools.bisect.program_runner import ProgramRunner
from dl_optools.bisect.recorded import farthest
from dl_optools.bisect.runs import BisectError, Outcome
from dl_optools.bisect.search import Elements, ddmin, find_minimal, search
from dl_optools.bisect.state import Run, State, StateError
from dl_optools.bisect.verdict import Criteria, CriterionError
from dl_optools.commands.bisect import BISECT
from dl_optools.one_iter.folder import OneIterError
from dl_optools.one_iter.recording import OneIter
from programs import dl, environment, script

COUNT = 200
NAMES = [f"aten.operator_{number}.default" for number in range(COUNT)]
LIMIT = 4 * math.log2(COUNT)
Fault = Callable[[Elements], bool]


class Model:
    """A run of a program with 200 operators, including faulty ones."""

    def __init__(self, fault: Fault, kill_after: int | None = None) -> None:
        self.fault = fault
        self.runs: list[Elements] = []
        self.kill_after = kill_after

    def _outcome(self, on_device: Elements) -> Outcome:
        if len(self.runs) == self.kill_after:
            raise KeyboardInterrupt
        self.runs.append(on_device)
        loss = 2.0 if self.fault(on_device) else 1.0
        return Outcome(0, f"step 1 loss 7\nstep 2 loss {loss}\n", NAMES)

    def is_wrong(self, on_device: Elements) -> bool:
        return "loss 2.0" in self._outcome(on_device).output

    def collect(self, log: Path) -> Outcome:
        return self._outcome(frozenset(NAMES))

    def run(self, on_device: Elements, log: Path) -> Outcome:
        return self._outcome(on_device)

    def capture(self, operators: Elements, directory: Path, log: Path) -> bool:
        return False


def bisection(folder: Path, model: Model, criteria: Criteria | None = None) -> Bisection:
    path = folder / "state.json"
    wanted = criteria or Criteria(metric="loss")
    if path.exists():
        state = State.load(path)
    else:
        state = State(["program"], "dispatch", "cpu", wanted.as_json(), str(folder))
    return Bisection(state, path, model, lambda text: None)


def alone(*guilty: int) -> Fault:
    names = {NAMES[x] for x in guilty}
    return lambda on_device: bool(names & on_device)


def together(*guilty: int) -> Fault:
    names = {NAMES[x] for x in guilty}
    return lambda on_device: names <= on_device


def test_a_metric_that_no_run_printed_is_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "run_001.log").write_text("step 1 loss 7\n")
    with pytest.raises(CriterionError, match=r"'nosuch': the program never.*after step, loss$"):
        bisection(tmp_path, Model(alone(0)), Criteria(metric="nosuch")).find()


@pytest.mark.parametrize("guilty", [0, 1, 99, 127, 128, 198, 199])
def test_one_culprit(tmp_path: Path, guilty: int) -> None:
    model = Model(alone(guilty))
    found = bisection(tmp_path, model).find()
    assert found.groups == ((NAMES[guilty],),) and not found.left
    assert len(model.runs) <= LIMIT
    # Only the run on the CPU is repeated: random differences could be blamed on any operator.
    assert len(set(model.runs)) + 1 == len(model.runs)


@pytest.mark.parametrize("pair", [(0, 1), (0, 199), (63, 64), (5, 130), (198, 199)])
def test_two_culprits_each_wrong_alone(tmp_path: Path, pair: tuple[int, int]) -> None:
    model = Model(alone(*pair))
    found = bisection(tmp_path, model).find()
    assert {*found.groups} == {(NAMES[x],) for x in pair}
    assert len(model.runs) <= LIMIT


@pytest.mark.parametrize("pair", [(0, 1), (0, 199), (63, 64), (5, 130), (198, 199)])
def test_two_culprits_wrong_only_together(tmp_path: Path, pair: tuple[int, int]) -> None:
    model = Model(together(*pair))
    found = bisection(tmp_path, model).find()
    assert found.groups == (tuple(NAMES[x] for x in pair),)
    assert len(model.runs) <= LIMIT


def test_any_pair_stays_below_the_limit(tmp_path: Path) -> None:
    drawn = random.Random(0)
    for _ in range(200):
        pair = drawn.sample(range(COUNT), 2)
        for fault in (alone(*pair), together(*pair)):
            model = Model(fault)
            found = search(NAMES, lambda x, model=model: model.is_wrong(x))
            assert sorted(found.elements) == sorted(NAMES[x] for x in pair)
            # The unchanged run is counted, the run without operators is not.
            assert len(model.runs) + 1 <= LIMIT


def test_faults_that_others_hide_are_found() -> None:
    # 3 is wrong unless 7 runs, too: additional operators can mask a failure.
    def fault(on_device: Elements) -> bool:
        return "3" in on_device and "7" not in on_device

    elements = [str(x) for x in range(10) if x != 7]
    assert find_minimal(elements, fault) == {"3"}
    everything = [str(x) for x in range(10)]

    def parity(on_device: Elements) -> bool:
        return len(on_device & {"1", "4", "8"}) in (1, 3)

    assert len(find_minimal(everything, parity)) == 1
    assert ddmin(everything, lambda x: {"2", "9"} <= x) == {"2", "9"}


def test_a_search_without_end_stops_at_its_limit() -> None:
    found = search(NAMES, lambda on_device: bool(on_device), groups=3)
    assert len(found.groups) == 3 and found.left


def test_a_killed_search_goes_on_without_a_run_twice(tmp_path: Path) -> None:
    whole = Model(together(20, 150))
    expected = bisection(tmp_path / "whole", whole).find()
    runs: list[Elements] = []
    for _ in range(100):
        model = Model(together(20, 150), kill_after=1)
        try:
            found = bisection(tmp_path, model).find()
        except KeyboardInterrupt:
            runs += model.runs
        else:
            runs += model.runs
            break
    assert found == expected and runs == whole.runs
    state = State.load(tmp_path / "state.json")
    assert state.verdict == [[NAMES[20], NAMES[150]]]


def test_runs_that_are_not_repeatable_are_reported(tmp_path: Path) -> None:
    model = Model(lambda on_device: len(model.runs) != 2)
    with pytest.raises(BisectError, match=r"not repeatable: .* gave 1 and 2, where .* seed"):
        bisection(tmp_path, model).find()
    assert len(model.runs) == 3


def test_without_a_verdict_no_operator_is_cleared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser()
    BISECT.configure(parser)
    asked = parser.parse_args(["--state", str(tmp_path / "state.json"), "--no-fork", "--", "true"])
    assert BISECT.run(asked) == 2
    assert "no tool ran in the program" in capsys.readouterr().err


def test_nothing_to_search_for(tmp_path: Path) -> None:
    with pytest.raises(BisectError, match="not wrong"):
        bisection(tmp_path / "a", Model(lambda on_device: False)).find()
    always = Criteria(expect="never printed")
    # The margin is reported.
    with pytest.raises(BisectError, match="of 0 where --tolerance allows"):
        bisection(tmp_path / "c", Model(lambda on_device: False)).find()
    with pytest.raises(
        BisectError, match="on the CPU the program is wrong, too: no output matches"
    ):
        bisection(tmp_path / "b", Model(alone(3)), always).find()


@pytest.mark.parametrize(
    ("criteria", "output", "complaint"),
    [
        (Criteria(), "", ""),
        (Criteria(expect="done"), "all done", ""),
        (Criteria(expect="^done"), "all done", "no output matches '^done'"),
        (Criteria(finite=True), "loss: -inf", "it printed -inf"),
        (Criteria(finite=True), "information about nantes in.nan", ""),
        (Criteria(metric="loss"), "loss = 1.0005e0", ""),
        (Criteria(metric="loss"), "loss=1.1 loss: 1", ""),
        (Criteria(metric="loss"), "loss: 1.002", "the metric is 1.002, want 1 within 0.001"),
        (Criteria(metric=r"at (\S+) %", tolerance=0.5), "at 1.4 %", ""),
        (Criteria(metric="loss"), "loss NaN", "the metric is nan"),
        (Criteria(metric="loss"), "", "it printed no number for 'loss'"),
    ],
)
def test_descriptions_of_failures(criteria: Criteria, output: str, complaint: str) -> None:
    assert criteria.complaint(0, output, 1.0) == complaint
    assert criteria.complaint(1, output, 1.0) == "exit status 1"
    assert criteria.complaint(139, output, 1.0) == "killed by SIGSEGV"


def test_criteria_that_do_not_fit() -> None:
    with pytest.raises(CriterionError, match="not a regular expression"):
        Criteria(expect="(")
    with pytest.raises(CriterionError, match="one group"):
        Criteria(metric="(a)(b)")
    with pytest.raises(CriterionError, match="not a number"):
        Criteria(metric="is (.*)").number("is it")


def test_states_of_something_else_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    for text in ("", "[]", '{"format": 2}', '{"format": 1, "runs": []}'):
        path.write_text(text)
        with pytest.raises(StateError, match="state of a bisection"):
            State.load(path)
    state = State(["a"], "api", None, {}, "b", ["x"], [Run(None, 0, "", math.nan, 1.0, "log")])
    state.save(path)
    assert State.load(path).runs[0].log == "log" and not list(tmp_path.glob("*.new"))


PROGRAM = """
import torch
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

class Device(TorchDispatchMode):
    # Below the tools, as a device is.
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result * 1.01 if str(func) in FAULTY else result

FAULTY = ("aten.gelu_backward.default",)
above = [_python_dispatch._pop_mode() for _ in range(torch._C._len_torch_dispatch_stack())]
Device().__enter__()
for mode in reversed(above):
    _python_dispatch._push_mode(mode)

torch.manual_seed(0)
layer = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 3))
optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
x = torch.randn(5, 4)
for step in range(3):
    optimizer.zero_grad()
    loss = (layer(x).softmax(1) * torch.arange(3.0)).sum()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
"""


def test_a_program_from_end_to_end(tmp_path: Path) -> None:
    program = script(tmp_path, PROGRAM)
    state = tmp_path / "state.json"
    options = ("--device", "cpu", "--metric", "loss", "--tolerance", "1e-6", "--state", str(state))
    done = dl(tmp_path, "bisect", *options, "--", sys.executable, program)
    assert done.returncode == 0, done.stderr
    found = json.loads(state.read_text())
    guilty = "aten.gelu_backward.default"
    assert found["verdict"] == [[guilty]]
    assert "1 of " in done.stdout and "dl tool fallback --level dispatch" in done.stdout
    bundles = list((tmp_path / "state_runs" / "bundles").rglob("bundle.json"))
    assert {x.parent.parent.name for x in bundles} == {guilty}
    # The printed command works.
    advice = next(x.split(" -- ")[0].split() for x in done.stdout.splitlines() if "dl tool" in x)
    pattern = advice[advice.index("--list") + 1].strip("'")
    options = ("--level", "dispatch", "--device", "cpu", "--list", pattern)
    fixed = dl(tmp_path, "tool", "fallback", *options, "--", sys.executable, program)
    assert float(fixed.stdout.split()[1]) == pytest.approx(found["runs"][1]["metric"], rel=1e-6)
    # The state is complete, so that nothing runs again.
    again = dl(tmp_path, "bisect", "--resume", str(state), "--no-capture")
    assert again.returncode == 0 and again.stderr == ""
    assert again.stdout.splitlines()[0] == done.stdout.splitlines()[0]


WITH_DROPOUT = """
import sys, torch
device = sys.argv[1]
torch.manual_seed(0)
layer = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 3))
layer, x = layer.to(device), torch.randn(5, 4).to(device)
loss = layer(x).square().sum()
loss.backward()
print("loss", loss.item())
"""


def test_dropout_on_a_correct_device_is_not_to_blame(tmp_path: Path) -> None:
    device = (*accelerators(), "cpu")[0]
    program = script(tmp_path, WITH_DROPOUT)
    options = ("--device", device, "--metric", "loss")
    vendors = {name: x for name, x in os.environ.items() if name == "DL_VENDORS"}
    done = dl(tmp_path, "bisect", *options, "--", sys.executable, program, device, **vendors)
    assert done.returncode == 1
    assert "the unchanged program is not wrong" in done.stderr
    assert "where --tolerance allows 0.001" in done.stderr


def test_a_run_that_hangs_is_wrong(tmp_path: Path) -> None:
    program = script(tmp_path, "import torch, threading; threading.Event().wait()")
    log = tmp_path / "run.log"
    variables = environment(tmp_path)
    command = [sys.executable, program]
    state = State(["x"], "dispatch", "cpu", Criteria().as_json(), str(tmp_path))
    with closing(ProgramRunner(command, "dispatch", "cpu", variables, timeout=0.1)) as runner:
        assert runner.run(frozenset(), log).timed_out
        with pytest.raises(BisectError, match="no tool saw an operator"):
            Bisection(state, tmp_path / "state.json", runner, lambda text: None).find()
    assert state.runs[0].complaint == "it took too long and was killed"


def test_a_program_in_which_no_tool_runs(tmp_path: Path) -> None:
    runner = ProgramRunner(["true"], "dispatch", "cpu", environment(tmp_path))
    with pytest.raises(BisectError, match="no tool ran in the program"):
        runner.run(frozenset(), tmp_path / "run.log")
    runner = ProgramRunner(["no-such-program"], "dispatch", "cpu", environment(tmp_path))
    with pytest.raises(BisectError, match="no-such-program: No such file"):
        runner.run(frozenset(), tmp_path / "run.log")


def test_operators_whose_calls_are_right_are_acquitted(tmp_path: Path) -> None:
    """If the last bit changes the loss, different rounding is not to blame for it."""
    bundles = tmp_path / "bundles"
    with OpCapture(device="cpu", level="dispatch", ops="aten.exp.default", directory=bundles):
        (torch.ones(3) / 3).exp()
    assert calls_are_right(bundles, "cpu", environment(tmp_path))
    assert "Nothing is to blame" in format_message("aten.exp.default", bundles)


def test_the_tensor_that_is_farthest_counts(tmp_path: Path) -> None:
    def recorded(name: str, factor: float) -> Path:
        torch.manual_seed(0)
        layer, x = torch.nn.Linear(4, 3), torch.ones(2, 4)
        with OneIter(layer, tmp_path / name / "step", rank=0):
            (layer(x).sum() * factor).backward()
        return tmp_path / name

    one, same, other = (recorded(name, x) for name, x in (("a", 1.0), ("b", 1.0), ("c", 1.5)))
    assert farthest(one, same, "weight gradient") == (0.0, "")
    apart, which = farthest(one, other, "weight gradient")
    assert apart == pytest.approx(0.5) and which == "weight gradient bias: value"
    assert farthest(one, other, "linear.*forward") == (0.0, "")
    # A run that recorded nothing has an infinite distance.
    assert farthest(one, tmp_path / "none", "weight gradient")[0] == math.inf
    with pytest.raises(OneIterError, match="is named 'no such name'"):
        farthest(one, other, "no such name")
    criteria = Criteria(tensor="weight gradient")
    assert criteria.distance(0.5, None) == "tensors are 0.5 apart, allowed 0.001"
    assert criteria.distance(1e-4, None) == "" and criteria.distance(math.nan, None) != ""
    assert "within a relative distance of 0.0001" in criteria.describe_margin(1e-4, None)
    with pytest.raises(CriterionError, match="name one"):
        Criteria(metric="loss", tensor="x")
