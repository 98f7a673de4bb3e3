"""`dl diagnose`: wrong operators are named, correct ones are not, and the coverage is reported."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from html import unescape
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from dl_optools.bisect.starter import Starter
from dl_optools.bisect.verdict import Criteria, CriterionError
from dl_optools.diagnosis.coverage import Coverage
from dl_optools.diagnosis.diagnosis import Diagnosis, Guilty, diagnose
from dl_optools.diagnosis.names import PROBE
from dl_optools.diagnosis.repeated_calls import max_distance
from dl_optools.diagnosis.report import (
    CHECKED,
    describe_power,
    html,
    list_workarounds,
    text,
    verdict,
)
from dl_optools.diagnosis.runs import Run, Runner
from dl_optools.launching.launch import DEVICE_VARIABLE, REPORT
from dl_optools.launching.reports import Report, note_report
from faulty_device import Wrong, probed
from programs import dl, script


def test_an_operator_that_changes_its_mind() -> None:
    calls: list[None] = []

    def sometimes(x: torch.Tensor) -> torch.Tensor:
        calls.append(None)
        return x * 1.5 if len(calls) % 2 == 0 else x

    def last_bit(x: torch.Tensor) -> torch.Tensor:
        calls.append(None)
        return torch.nextafter(x, x + 1) if len(calls) % 2 == 0 else x

    x = torch.ones(8) / 3
    found = probed(lambda: (x.exp(), x + 1), "aten.exp.default", sometimes)
    assert list(found["wrong"]) == ["aten.exp.default"]
    # Nondeterministic last bits, as with atomics, are reported but are not a fault.
    found = probed(lambda: (x.exp(), x + 1), "aten.exp.default", last_bit)
    assert found["wrong"] == {} and list(found["unequal"]) == ["aten.exp.default"]


def spoilt(at: int) -> Wrong:
    """Return a different value of one output at every call."""
    calls: list[None] = []

    def wrong(result: Any) -> Any:
        calls.append(None)
        parts = list(result)
        parts[at] = parts[at] + len(calls)
        return tuple(parts)

    return wrong


def test_outputs_without_information_accuse_no_operator() -> None:
    bag = torch.tensor([0, 1]), torch.tensor([0])
    name = "aten._embedding_bag.default"
    found = probed(lambda: torch.ops.aten._embedding_bag(torch.ones(2, 3), *bag), name, spoilt(1))
    assert found["repeated"] and found["wrong"] == found["unequal"] == {}
    found = probed(lambda: torch.ops.aten._embedding_bag(torch.ones(2, 3), *bag), name, spoilt(0))
    assert list(found["wrong"]) == [name]
    # If the maximum occurs several times, any of its indices is right, and all others are wrong.
    tied = torch.tensor([1.0, 3.0, 3.0, 0.0])
    places = iter([1, 2, 1, 3])
    found = {}

    def elsewhere(result: Any) -> Any:
        return result[0], torch.tensor([next(places)])

    for wrong in ([], ["aten.topk.default"]):
        found = probed(lambda: tied.topk(1), "aten.topk.default", elsewhere)
        assert list(found["wrong"]) == wrong


def test_twice_the_same_infinity_is_not_apart() -> None:
    one = torch.tensor([float("inf"), float("nan"), 1.0])
    two = torch.tensor([float("inf"), float("nan"), 1.0 + 2**-20])
    assert max_distance(one, two) == pytest.approx(8)
    assert max_distance(one, -one) == float("inf")


class Scripted:
    """A runner whose runs return given reports."""

    def __init__(self, folder: Path, *runs: Run) -> None:
        self.command, self.folder, self.runs = ["python", "x.py"], folder, list(runs)
        self.environ: dict[str, str] = {}
        self.asked: list[dict[str, str]] = []
        self.stopped = 0

    def run(self, tools: str, **variables: str) -> Run:
        self.asked.append(variables)
        return self.runs.pop(0)


def a_run(*wrong: str, status: int = 0, output: str = "") -> Run:
    """Return a run whose probe finds these operators wrong."""
    probe = {
        "calls": {"aten.mm.default": 1},
        **{x: {} for x in ("dtypes", "repeated", "unequal", "drawn", "unknown", "inside")},
        "wrong": dict.fromkeys(wrong, "far off"),
        "device": "cpu",
        "only_on_device": [],
        "bad_gradients": False,
    }
    compare = {
        "calls": 1,
        "checked": 1,
        "signatures": 1,
        **{x: {} for x in ("dropped", "operators", "failures", "bundles", "partly")},
        **{x: [] for x in ("not_comparable", "unjudged")},
    }
    reports = [Report("probe", 1, "", probe), Report("compare", 1, "", compare)]
    return Run(status, output, Path("log"), [], [REPORT + json.dumps(asdict(x)) for x in reports])


@pytest.mark.parametrize("quick", [False, True])
def test_the_first_accusation_hides_no_other(tmp_path: Path, quick: bool) -> None:
    runner = Scripted(tmp_path, a_run("a.a"), a_run("a.a", "a.b"), a_run())
    said: list[str] = []
    found = diagnose(cast("Runner", runner), said.append, quick=quick)
    assert [x.name for x in found.guilty] == ["a.a", "a.b"]
    assert ("OP_PROBE_LIST" in runner.asked[1]) is quick
    assert said[1] == f"run 2: every call of {'a.a' if quick else 'all operators'}\n"


def a_diagnosis(**values: Any) -> Diagnosis:
    calls = {"aten.mm.default": 8, "aten.x.default": 2}
    coverage = Coverage(calls, {"aten.mm.default": 8})
    coverage.gaps = ["aten.x.default: 2 calls <without> a reference"]
    return Diagnosis(["python", "train.py"], Path("folder"), coverage=coverage, **values)


def test_the_report() -> None:
    found = a_diagnosis(guilty=[Guilty("aten.mm.default", ["far off"], alone=True)])
    assert verdict(found).startswith("aten.mm.default is wrong on this device. 8 of 10 calls")
    told = text(found, Path("page.html"))
    assert list_workarounds(found)[0] in told and "is wrong again" in told and "not checked" in told
    assert r"--list 'aten\.mm\.default' -- python train.py" in told
    page = html(found)
    assert "far off" in page and "&lt;without&gt;" in page and "http" not in page
    assert verdict(a_diagnosis(unable="no tool ran")) == "No verdict: no tool ran."


def test_the_report_defines_checked() -> None:
    some = a_diagnosis()
    assert verdict(some) == (
        "No operator was found to be wrong. 8 of 10 calls were checked. "
        "Not checked, or not in all results: aten.x.default (2)."
    )
    assert "8 of 10 calls checked (80.0%)" in describe_power(some.coverage)
    assert "but not in other calls" in describe_power(some.coverage)
    for told in (text(some, None), html(some)):
        assert CHECKED in unescape(told)
    whole = a_diagnosis()
    whole.coverage.checked["aten.x.default"] = 2
    assert verdict(whole) == "No operator was found to be wrong. All 10 calls were checked."
    assert "An error in any of them would have been detected." in describe_power(whole.coverage)
    # Two correct calls imply little about other runs, which the report states.
    assert "Other runs may fail by chance" in describe_power(whole.coverage)
    assert "at most 78% at the fewest of 2" in describe_power(whole.coverage)
    # A call with a result that has no reference is not checked.
    whole.coverage.partly["aten.mm.default"] = 3
    assert verdict(whole).endswith("Not checked, or not in all results: aten.mm.default (3).")
    assert "70.0%" in describe_power(whole.coverage)


def test_operators_that_are_not_checked_are_named_with_the_most_calls_first() -> None:
    many = a_diagnosis()
    many.coverage.calls = {f"aten.op{at}.default": at for at in range(1, 10)}
    said = verdict(many)
    assert "aten.op9.default (9), aten.op8.default (8)" in said
    assert said.endswith("aten.op4.default (4) and 3 other operators.")


def test_no_fallback_is_offered_that_cannot_work() -> None:
    guilty = [Guilty("aten.mm.default"), Guilty("aten.cell.default")]
    both = a_diagnosis(guilty=guilty, only_on_device={"aten.cell.default"})
    command, words = list_workarounds(both)
    assert "mm" in command and "cell" not in command
    assert words.startswith("aten.cell.default cannot fall back")
    assert words in text(both, None) and words in html(both)
    alone = a_diagnosis(guilty=guilty[1:], only_on_device={"aten.cell.default"})
    assert list_workarounds(alone) == [words]


def test_the_end_of_a_program_is_reported(tmp_path: Path) -> None:
    ours = '  File "x/fork_server.py", line 1, in execute\n    exec(program)\n'
    output = f'begins\n{ours}  File "bad.py", line 3, in <module>\n    raise\nValueError: odd\n'
    runner = Scripted(tmp_path, a_run(status=3, output=output), a_run())
    found = diagnose(cast("Runner", runner), str)
    told, page = text(found, None), html(found)
    for part in ("exit status 3", "ValueError: odd", "complete output: log"):
        assert part in told and part in page
    assert found.ending[1:3] == ['  File "bad.py", line 3, in <module>', "    raise"]
    assert any(x.startswith("run 2 ended with exit status 0") for x in found.notes)
    assert "ended with" not in text(a_diagnosis(), None)


def test_the_device_is_reported(tmp_path: Path) -> None:
    for environ, said in (({}, True), ({DEVICE_VARIABLE: "cpu"}, False)):
        runner = Scripted(tmp_path, a_run())
        runner.environ = environ
        found = diagnose(cast("Runner", runner), str, quick=True)
        for told in (text(found, None), html(found)):
            assert "examined: operators on cpu" in told
            assert ("no accelerator was found" in told) is said


def test_a_metric_that_is_never_printed_is_refused(tmp_path: Path) -> None:
    output = "step 3 loss 0.5\nmedian_ms=7.25\n"
    criteria = Criteria(metric="nosuch")
    with pytest.raises(CriterionError, match=r"'nosuch'.*after step, loss, median_ms$"):
        diagnose(cast("Runner", Scripted(tmp_path, a_run(output=output))), str, criteria=criteria)
    # A program that fails may not print it.
    runner = Scripted(tmp_path, a_run(status=1, output=output))
    diagnose(cast("Runner", runner), str, quick=True, criteria=criteria)
    with pytest.raises(CriterionError, match="no number after a word"):
        raise criteria.missing_metric_error("well")
    known = Scripted(tmp_path, a_run(output=output))
    diagnose(cast("Runner", known), str, quick=True, criteria=Criteria(metric="loss"))


def test_a_stopped_diagnosis_reports_its_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the second run: the first one counts."""
    found = {"calls": 3, "checked": 2, "signatures": 2, "dropped": {}, "not_comparable": []}
    found |= {"partly": {}, "unjudged": []}
    of_mm = {"checked": 2, "failed": 1, "units": 9.0}
    compared = {
        **found,
        "operators": {"aten.mm.default": of_mm},
        "failures": {"aten.mm.default": "far off"},
        "bundles": {},
    }
    probed = {key: {} for key in ("dtypes", "drawn", "unknown", "unequal", "wrong")}
    probed |= {"calls": {"aten.mm.default": 3}, "repeated": {}, "imported": []}
    probed |= {"device": "cpu", "only_on_device": [], "bad_gradients": False}
    runs: list[Path] = []

    def start(_: Starter, variables: dict[str, str], log: Path, is_stuck: object) -> int:
        runs.append(log)
        if len(runs) == 2:
            raise KeyboardInterrupt
        log.write_text("loss 1")
        note_report(variables, "compare", compared)
        note_report(variables, PROBE, probed)
        return 0

    monkeypatch.setattr(Starter, "start", start)
    monkeypatch.setattr(Starter, "preload", lambda *_: None)
    runner = Runner(["python", "train.py"], {}, tmp_path, None)
    diagnosed = diagnose(runner, lambda _: None)
    assert runner.stopped == 130 and len(runs) == 2
    assert verdict(diagnosed).startswith("aten.mm.default is wrong on this device. It was stopped")


PROGRAM = """
import sys, torch
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

class Device(TorchDispatchMode):
    # Below the tools, as a device is; wrong where values are large.
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return torch.where(result > 1, result * 1.1, result) if str(func) == FAULTY else result

FAULTY = sys.argv[1]
above = [_python_dispatch._pop_mode() for _ in range(torch._C._len_torch_dispatch_stack())]
Device().__enter__()
for mode in reversed(above):
    _python_dispatch._push_mode(mode)
torch.manual_seed(0)
layer = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Dropout(0.1))
for step in range(2):
    layer(torch.randn(5, 4) * 3).sum().backward()
print("loss", 1.5)
"""


def test_a_program_from_end_to_end(tmp_path: Path) -> None:
    program = script(tmp_path, PROGRAM)
    command = ("diagnose", "--device", "cpu", "--", sys.executable, program)
    done = dl(tmp_path, *command, "aten.gelu.default")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("verdict: aten.gelu.default is wrong on this device.")
    assert "reproduce: python" in done.stdout
    page = Path(done.stdout.rpartition("page: ")[2].strip())
    assert "aten.gelu.default" in page.read_text(encoding="utf-8")
    clean = dl(tmp_path, *command[:3], "--quick", *command[3:], "none")
    assert clean.returncode == 0 and "No operator was found" in clean.stdout, clean.stderr
