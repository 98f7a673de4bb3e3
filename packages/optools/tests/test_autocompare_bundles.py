"""Wrong calls become bundles, and a replay of a bundle finds the same error."""

from __future__ import annotations

import importlib
import io
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from autocompare_faults import FAULTS, Fault, FaultyDevice, Inputs
from dl_optools.bundle import Bundle, read
from dl_optools.compare.autocompare import OpAutoCompare
from dl_optools.patching import apply_feature
from dl_optools.replay.check import PartCheck, check
from programs import dl, script

F = torch.nn.functional


@pytest.fixture(autouse=True)
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DL_TOOLS_OUTPUT", str(tmp_path))
    return tmp_path


def tool(**options: Any) -> OpAutoCompare:
    given: dict[str, Any] = dict(device="cpu", every=1, stream=None, csv=False)
    return OpAutoCompare(**{**given, **options})


def the_bundle(found: OpAutoCompare) -> Bundle:
    (path,) = found.results.bundles.values()
    return read(path)


def wrong_parts(bundle: Bundle, device: str = "cpu") -> list[PartCheck]:
    """Return the parts that are wrong when the device is right again."""
    parts = check(bundle, device).parts
    assert all(part.here <= 1 or math.isnan(part.here) for part in parts)
    return [part for part in parts if not part.ok]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_bundle_of_a_wrong_call_gets_the_same_verdict(fault: Fault, device: str) -> None:
    with FaultyDevice(fault.operator, fault.wrong), tool(device=device) as found:
        fault.program(Inputs(device))
    bundle = the_bundle(found)
    assert (bundle.document.operator, bundle.document.device) == (fault.operator, device)
    failure = found.results.failures[0]
    assert f"{failure.number:06d}" == bundle.path.name
    wanted = {part.output: part.units for part in failure.parts if not part.ok}
    for place in {"cpu", device}:
        assert {part.name: part.recorded for part in wrong_parts(bundle, place)} == wanted


def wrong_sums(f: Any, x: torch.Tensor, *rest: Any, **options: Any) -> torch.Tensor:
    result: torch.Tensor = f(x, *rest, **options)
    return result * 1.01


def test_gradients_are_in_a_functions_bundle(device: str) -> None:
    x, weight = (Inputs(device).leaf(*shape) for shape in ((2, 3, 4), (5, 4)))

    def wrong(f: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        product: torch.Tensor = f(a, b)
        return product * 1.01 if product.shape == (5, 4) else product

    with FaultyDevice("aten.mm.default", wrong), tool(device=device, level="api") as found:
        F.linear(x * 1, weight).square().sum().backward()
    assert found.results.guilty == ["torch.nn.functional.linear"]
    bundle = the_bundle(found)
    document = bundle.document
    assert document.gradients is not None and document.returned == len(document.results) == 1
    kinds = [document.tensors[at] for at in document.inputs]
    assert [(x.requires_grad, x.leaf) for x in kinds] == [(True, False), (True, True)]
    assert {x.device.partition(":")[0] for x in document.tensors} == {device}
    assert not document.program["backward"] and document.context["grad"]
    (part,) = wrong_parts(bundle, device)
    assert part.name == "gradient of input 1"
    assert part.recorded == found.results.failures[0].units


@pytest.mark.parametrize(
    ("operator", "program", "name"),
    [
        ("aten.relu_.default", lambda x: F.relu(x * 1, inplace=True), "argument 0"),
        ("aten.add_.Tensor", lambda x: (x * 1).add_(1), "argument 0"),
        ("aten.exp.out", lambda x: torch.exp(x.detach(), out=torch.empty(3)), "argument 1"),
        ("aten.var_mean.correction", lambda x: torch.var_mean(x, 0), "output 0"),
        ("aten.sum.dim_IntList", lambda x: x.expand(2, 3).sum(0), "output 0"),
    ],
)
def test_bundles_of_functions_replay(operator: str, program: Any, name: str) -> None:
    def wrong(f: Any, *args: Any, **options: Any) -> Any:
        result = f(*args, **options)
        for each in [result] if isinstance(result, torch.Tensor) else result[:1]:
            each.add_(1)
        return result

    x = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
    with FaultyDevice(operator, wrong), tool(level="api") as found:
        program(x)
    bundle = the_bundle(found)
    assert [part.name for part in wrong_parts(bundle)] == [name]


def test_arguments_share_memory_as_before_and_keep_their_devices(device: str) -> None:
    base = torch.arange(12.0, device=device)
    left, right = base[:8].view(2, 4).t(), base[4:12].view(4, 2)
    host = torch.tensor(2.0)
    fault = FaultyDevice("aten.where.self", lambda f, *args: f(*args) + 1)
    with fault, tool(device=device) as found:
        torch.where(left > 3, right, host)
    document = the_bundle(found).document
    tensors = [document.tensors[at] for at in document.inputs]
    assert [x.device.partition(":")[0] for x in tensors] == [device, device, "cpu"]
    with FaultyDevice("aten.addcmul.default", wrong_sums), tool(device=device) as found:
        torch.addcmul(left, right, right)
    bundle = the_bundle(found)
    one, two = (bundle.document.tensors[at] for at in bundle.document.inputs)
    assert one.storage == two.storage and (one.offset, two.offset) == (0, 4)
    assert one.stride == (1, 4)
    assert len(wrong_parts(bundle, device)) == 1


def test_conversions_reach_the_same_device(device: str) -> None:
    x = torch.ones(3, device=device)
    fault = FaultyDevice("aten._to_copy.default", lambda f, x, **options: f(x * 2, **options))
    with fault, tool(device=device) as found:
        x.to(torch.float64, copy=True)
        x.to("cpu", copy=True)
    bundle = the_bundle(found)
    assert bundle.document.device == device and len(wrong_parts(bundle, device)) == 1


def test_one_bundle_for_each_operator_and_not_more_than_asked_for(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(**options: Any) -> OpAutoCompare:
        names = ("aten.exp.default", "aten.sin.default", "aten.cos.default")
        x = torch.linspace(1, 2, 5)
        with (
            FaultyDevice(names[0], wrong_sums),
            FaultyDevice(names[1], wrong_sums),
            FaultyDevice(names[2], wrong_sums),
            tool(threads=1, **options) as found,
        ):
            for function in (torch.exp, torch.sin, torch.exp, torch.cos):
                function(x)
        assert found.results.guilty == list(names)
        return found

    found = run(bundles=2)
    assert list(found.results.bundles) == ["aten.exp.default", "aten.sin.default"]
    (directory,) = {path.parents[1] for path in found.results.bundles.values()}
    assert directory.parent == results / "op_autocompare_result"
    assert len(list(directory.rglob("bundle.json"))) == 2
    assert json.loads((directory / "capture.json").read_text())["calls"] == 2
    assert not run(bundles=0).results.bundles
    monkeypatch.setenv("AUTOCOMPARE_BUNDLES", "1")
    assert len(run().results.bundles) == 1
    monkeypatch.delenv("AUTOCOMPARE_BUNDLES")
    assert len(run().results.bundles) == 3


def test_the_report_names_bundles_and_says_why_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run() -> tuple[OpAutoCompare, str]:
        stream = io.StringIO()
        with FaultyDevice("aten.exp.default", wrong_sums), tool(stream=stream) as found:
            torch.exp(torch.ones(1000))
        return found, stream.getvalue()

    found, said = run()
    assert said.count(f"dl replay {found.results.bundles['aten.exp.default']} --check") == 2
    monkeypatch.setenv("OP_CAPTURE_DISK", "500")
    found, said = run()
    assert found.results.guilty == ["aten.exp.default"] and not found.results.bundles
    assert said.count("no bundle: disk quota") == 2


def test_functions_that_no_bundle_names_have_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd_package.py").write_text("import torch\ndef odd(x): return torch.exp(x)\n")
    monkeypatch.syspath_prepend(tmp_path)
    odd_package = importlib.import_module("odd_package")
    options: dict[str, Any] = dict(device="cpu", every=1, stream=None, csv=False)
    with (
        FaultyDevice("aten.exp.default", wrong_sums),
        apply_feature("odd_package.odd", "autocompare", **options) as applied,
    ):
        odd_package.odd(torch.ones(3))
    assert isinstance(applied.tool, OpAutoCompare)
    results = applied.tool.results
    assert results.guilty == ["odd_package.odd"] and not results.bundles
    assert "is not an operator of level 'api'" in results.no_bundle["odd_package.odd"]


PROGRAM = """
import threading, torch
def exp(x):
    # The tool computes its references in threads of its own.
    main = threading.current_thread() is threading.main_thread()
    return (torch.expm1(x) + 1) * (1.00001 if main else 1)
library = torch.library.Library("aten", "IMPL")
library.impl("exp", exp, "CPU")
torch.exp(torch.linspace(0.5, 2, 40))
"""


def test_dl_tool_compare_and_dl_replay_name_the_same_call(tmp_path: Path) -> None:
    program = script(tmp_path, PROGRAM)
    options = ("--device", "cpu", "--bundles", "1", "--disk", "1M")
    done = dl(tmp_path, "tool", "compare", *options, "--", sys.executable, program)
    assert done.returncode == 1, done.stderr
    (path,) = set(re.findall(r"dl replay (\S+) --check", done.stderr))
    assert "aten.exp.default" in path
    done = dl(tmp_path, "replay", path, "--device", "cpu", "--check")
    assert done.returncode == 1, done.stderr
    assert "WRONG" in done.stdout and "output 0 as recorded: " in done.stdout
    assert " here: " not in done.stdout
    done = dl(tmp_path, "tool", "fallback", "--bundles", "1", "--", "true")
    assert done.returncode == 2 and "--bundles is for compare" in done.stderr
