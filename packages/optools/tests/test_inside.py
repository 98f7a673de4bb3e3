"""Operators that call a wrong one internally are listed as its consequence, and not blamed."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from dl_optools.diagnosis.diagnosis import diagnose
from dl_optools.diagnosis.inside import base, causes, run_and_record
from dl_optools.diagnosis.names import INSIDE_VARIABLE
from dl_optools.diagnosis.probe import OpProbe
from dl_optools.diagnosis.report import html, list_workarounds, text, verdict
from dl_optools.diagnosis.runs import Run, Runner
from dl_optools.launching.launch import REPORT
from dl_optools.launching.reports import Report
from test_diagnosis import Scripted, a_run

PRODUCT, DROPOUT = "aten._foreach_mul_.Scalar", "aten.native_dropout.default"
BACKWARD = "aten.native_dropout_backward.default"
INSIDE = {PRODUCT: ["_foreach_mul_", "mul_"], DROPOUT: ["bernoulli_", "mul_"], BACKWARD: ["mul"]}


def test_names_of_forms_of_an_operator_are_one() -> None:
    for name in ("mul", "mul_", "aten.mul.Tensor", "aten.mul_.Tensor", PRODUCT):
        assert base(name) == "mul"
    assert base("aten.__ilshift__.Scalar") == "__ilshift__"


def test_an_operator_that_runs_a_wrong_one_inside_has_a_cause() -> None:
    inside = {name: set(names) for name, names in INSIDE.items()}
    assert causes(list(INSIDE), inside) == {DROPOUT: PRODUCT, BACKWARD: PRODUCT}
    # If two call the same correct operator, both are to blame.
    assert causes([DROPOUT, BACKWARD], inside) == {}
    assert causes([PRODUCT, DROPOUT], {}) == {}
    # If two call each other, neither is the cause.
    assert causes(["aten.a.x", "aten.b.x"], {"aten.a.x": {"b"}, "aten.b.x": {"a"}}) == {}


def test_operators_inside_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    result, names = run_and_record(
        lambda: torch.nn.functional.linear(torch.ones(2, 3), torch.ones(4, 3))
    )
    assert (result.shape == (2, 4) and "addmm" in names) or "mm" in names or "matmul" in names
    monkeypatch.setenv(INSIDE_VARIABLE, "1")
    with OpProbe(device="cpu") as tool:
        torch.ones(3).cumsum(0), torch.native_dropout(torch.ones(9), 0.5, True)
    found = tool.report()
    assert "bernoulli_" in found["inside"][DROPOUT]
    # That run does nothing else.
    assert found["repeated"] == found["drawn"] == {}


def with_inside(inside: dict[str, list[str]]) -> Run:
    run = a_run()
    probe: dict[str, Any] = {"calls": {"x": 1}, "inside": inside, "imported": []}
    report = asdict(Report("probe", 1, "", probe))
    return Run(0, "", run.log, [], [REPORT + json.dumps(report)])


def test_the_verdict_names_the_cause_and_the_workaround_all(tmp_path: Path) -> None:
    wrong = a_run(DROPOUT, PRODUCT, BACKWARD)
    runner = Scripted(tmp_path, wrong, wrong, with_inside(INSIDE))
    found = diagnose(cast("Runner", runner), str)
    assert [x.name for x in found.guilty] == [PRODUCT]
    assert verdict(found).startswith(f"{PRODUCT} is wrong on this device.")
    assert {x.name for x in found.affected} == {DROPOUT, BACKWARD}
    assert "native_dropout_backward" in list_workarounds(found)[0]
    for told in (text(found, None), html(found)):
        assert f"it calls mul internally, as {PRODUCT} does" in told
    assert runner.asked[2][INSIDE_VARIABLE] == "1"


def test_one_wrong_operator_needs_no_further_run(tmp_path: Path) -> None:
    runner = Scripted(tmp_path, a_run(DROPOUT), a_run(DROPOUT))
    assert [x.name for x in diagnose(cast("Runner", runner), str).guilty] == [DROPOUT]
