"""`dl diagnose`: the guilty are named, nobody else is, and what nothing found means is said."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from dl_optools.bisect.starting import Starter
from dl_optools.call import OUR_MODES
from dl_optools.diagnosis.diagnosis import Coverage, Diagnosis, Guilty, diagnose
from dl_optools.diagnosis.distributions import bernoulli, exponential, normal, uniform
from dl_optools.diagnosis.names import PROBE
from dl_optools.diagnosis.probe import OpProbe
from dl_optools.diagnosis.runs import Runner
from dl_optools.diagnosis.telling import html, power, text, verdict, workaround
from dl_optools.launching.reports import note_report
from programs import dl, script

Wrong = Callable[[Any], Any]


class Faulty(TorchDispatchMode):
    """A device, below the tools, on which one overload is wrong."""

    def __init__(self, name: str, wrong: Wrong) -> None:
        super().__init__()
        self.name, self.wrong = name, wrong

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        return self.wrong(result) if str(func) == self.name else result


@pytest.fixture(autouse=True)
def below_the_tools() -> Iterator[None]:
    """What tools call by themselves meets the device, too."""
    OUR_MODES.append(Faulty)
    yield
    OUR_MODES.remove(Faulty)


def probed(work: Callable[[], Any], name: str = "", wrong: Wrong = lambda x: x) -> dict[str, Any]:
    torch.manual_seed(0)
    with Faulty(name, wrong), OpProbe(device="cpu") as tool:
        work()
    return tool.report()


def draw() -> None:
    x = torch.ones(1000)
    torch.native_dropout(x, 0.1, True)
    torch.rand_like(x), torch.randn_like(x)
    torch.empty(1000).uniform_(-1, 3), torch.empty(1000).normal_(2, 0.5)
    torch.empty(1000).exponential_(2.0), torch.empty(1000).bernoulli_(0.3)
    torch.nn.functional.dropout(x, 0.25)
    torch.bernoulli(torch.linspace(0.05, 0.95, 300)), torch.randint(0, 7, (300,))
    torch.randint(5, (300,)), torch.randperm(50)
    torch.multinomial(torch.tensor([0.2, 0.3, 0.5]), 400, True)


def test_a_correct_device_draws_what_it_should() -> None:
    found = probed(draw)
    assert found["wrong"] == {} and found["unknown"] == {}
    assert len(found["drawn"]) >= 11


def test_the_programs_own_numbers_stay_what_they_are() -> None:
    torch.manual_seed(3)
    expected = [torch.rand(4), torch.nn.functional.dropout(torch.ones(50)), torch.rand(4)]
    torch.manual_seed(3)
    with OpProbe(device="cpu"):
        got = [torch.rand(4), torch.nn.functional.dropout(torch.ones(50)), torch.rand(4)]
    assert all(map(torch.equal, expected, got))


@pytest.mark.parametrize(
    ("name", "wrong", "said"),
    [
        ("aten.native_dropout.default", lambda x: (x[0] * 1.01, x[1]), "where the mask is set"),
        (
            "aten.native_dropout.default",
            lambda x: (torch.ones_like(x[0]) / 0.9, torch.ones_like(x[1])),
            "the mean of",
        ),
        ("aten.bernoulli_.float", lambda x: x.mul_(torch.rand(x.shape) < 0.8), "the mean of"),
        ("aten.bernoulli_.float", lambda x: x.mul_(2), "lie in"),
        ("aten.uniform_.default", lambda x: x.mul_(0.5), "Uniform"),
        ("aten.normal_.default", lambda x: x.sub_(2).mul_(1.1).add_(2), "Normal"),
        ("aten.bernoulli.default", lambda x: x * (torch.rand(x.shape) < 0.8), "the mean of"),
        ("aten.randint.low", lambda x: x + (x == 3) * 9, "lie in"),
        ("aten.randint.default", lambda x: x * (torch.rand(x.shape) < 0.8), "the mean of"),
        ("aten.randperm.default", lambda x: x.clamp(min=1), "each once"),
        ("aten.multinomial.default", lambda x: x * (torch.rand(x.shape) < 0.8), "the mean of"),
        ("aten.rand_like.default", lambda x: torch.linspace(0, 0.99, x.numel()), "numbers"),
        ("aten.randn_like.default", lambda x: x.sort().values, "correlated"),
    ],
)
def test_draws_that_are_wrong(name: str, wrong: Wrong, said: str) -> None:
    found = probed(draw, name, wrong)
    assert list(found["wrong"]) == [name]
    assert said in found["wrong"][name]


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
    # Other bits are a fact to know, as atomics give them, and no fault.
    found = probed(lambda: (x.exp(), x + 1), "aten.exp.default", last_bit)
    assert found["wrong"] == {} and list(found["unequal"]) == ["aten.exp.default"]


def test_laws_know_their_samples() -> None:
    torch.manual_seed(0)
    x = torch.rand(5000, dtype=torch.float64)
    assert uniform(0, 1).problem(x) == "" and uniform(0, 2).problem(x) != ""
    assert bernoulli(0.5).problem((x < 0.5).double()) == ""
    assert bernoulli(0.5).problem((x < 0.4).double()) != ""
    assert bernoulli(0.5).problem(torch.tensor([0.0, 0.5])) != ""
    assert normal(0, 1).problem(torch.randn(5000)) == "" and normal(0, 1).problem(x) != ""
    assert exponential(1).problem(-(1 - x).log()) == "" and exponential(2).problem(x) != ""
    assert normal(0, 1).problem(torch.tensor([float("nan")])) != ""
    # Too few to say anything.
    assert bernoulli(0.5).problem(torch.ones(3)) == ""


def a_diagnosis(**values: Any) -> Diagnosis:
    coverage = Coverage({"aten.mm.default": 8, "aten.x.default": 2}, {"aten.mm.default": 8})
    coverage.gaps = ["aten.x.default: 2 calls <without> a reference"]
    return Diagnosis(["python", "train.py"], Path("folder"), coverage=coverage, **values)


def test_what_is_said() -> None:
    found = a_diagnosis(guilty=[Guilty("aten.mm.default", ["far off"], alone=True)])
    assert verdict(found) == "aten.mm.default is wrong on this device."
    told = text(found, Path("page.html"))
    assert workaround(found) in told and "is wrong again" in told and "not checked" in told
    assert r"--list 'aten\.mm\.default' -- python train.py" in told
    page = html(found)
    assert "far off" in page and "&lt;without&gt;" in page and "http" not in page
    nothing = a_diagnosis()
    assert verdict(nothing) == "No operator was found to be wrong."
    assert "80.0% of 10 calls" in power(nothing.coverage)
    assert escape(power(nothing.coverage)) in html(nothing)
    # 8 calls that are right: of a fault in 31 % of them one would have been seen, 95 times of 100.
    assert "in 31% of" in power(nothing.coverage)
    assert "exit status 3" in verdict(a_diagnosis(status=3))
    assert verdict(a_diagnosis(unable="no tool ran")) == "Nothing can be said: no tool ran."


def test_a_diagnosis_that_is_stopped_says_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the second run: the first one counts."""
    found = {"calls": 3, "checked": 2, "signatures": 2, "dropped": {}, "not_comparable": []}
    of_mm = {"checked": 2, "failed": 1, "units": 9.0}
    compared = {
        **found,
        "operators": {"aten.mm.default": of_mm},
        "failures": {"aten.mm.default": "far off"},
        "bundles": {},
    }
    probed = {key: {} for key in ("dtypes", "drawn", "unknown", "unequal", "wrong")}
    probed |= {"calls": {"aten.mm.default": 3}, "repeated": {}, "imported": []}
    runs: list[Path] = []

    def start(_: Starter, variables: dict[str, str], log: Path) -> int:
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
