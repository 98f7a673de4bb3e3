"""`dl diagnose` judges gradients that are nan or inf although each operator in them is right."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from dl_optools.diagnosis.bad_gradients import (
    find_sources,
    variables_for,
    wrong_gradients,
)
from dl_optools.diagnosis.probe import OpProbe
from dl_optools.launching.reports import Report
from programs import dl, script

OVERFLOWS = """
import torch
x = torch.full((4,), 1e-12, requires_grad=True)
torch.linalg.vector_norm(x, 3.0).backward(torch.tensor(1e16))
print("done")
"""
"""torch computes gradient / norm**2 before it multiplies by x * |x|."""

SINGULAR = """
import torch
x = torch.zeros(4, requires_grad=True)
torch.sqrt(x).sum().backward()
print("done")
"""

HARMLESS = """
import torch
x = torch.full((4,), 1e-25, requires_grad=True)
torch.atan2(x, x.detach()).sum().backward()
print("done")
"""


def diagnose(folder: Path, program: str) -> str:
    command = ("diagnose", "--device", "cpu", "--", sys.executable, script(folder, program))
    done = dl(folder, *command)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("program", "name"), [(OVERFLOWS, "torch.linalg.vector_norm"), (SINGULAR, "torch.sqrt")]
)
def test_what_torch_computes_alike_accuses_no_operator_and_is_in_the_verdict(
    tmp_path: Path, program: str, name: str
) -> None:
    said = diagnose(tmp_path, program)
    assert said.startswith(
        f"verdict: No operator was found to be wrong, but the gradient of {name} is nan or inf for "
        "finite values, as on torch's CPU: its formula overflows or underflows, here or in a value "
        "before it, or it has a singularity there. All "
    )
    assert f"the backward of {name}" in said


def test_what_does_not_leave_a_gradient_is_a_note(tmp_path: Path) -> None:
    said = diagnose(tmp_path, HARMLESS)
    assert said.startswith("verdict: No operator was found to be wrong. All ")
    assert "nan or inf appeared within a gradient, which does not contain them" in said


def reports(**found: object) -> list[Report]:
    return [Report("compare", 1, "", {"failures": {}, "gradients": [], **found})]


def test_a_gradient_that_is_finite_on_the_cpu_accuses_the_device() -> None:
    failures = {
        "torch.a": "torch.a (call 2, backward):\n  got nan",
        "torch.b": "torch.b (call 3):\n  got nan, and backward) is a part of the text",
    }
    assert wrong_gradients(reports(failures=failures)) == {"torch.a": failures["torch.a"]}


def test_functions_are_compared_as_a_whole() -> None:
    names = [f"torch.f{i}" for i in range(9)]
    found = find_sources(reports(gradients=[*names, names[0]]))
    assert found == names[:6]
    assert variables_for(["torch.f0"])["DL_TOOLS_LEVEL"] == "api"


def test_the_probe_sees_gradients_that_become_infinite() -> None:
    for start, found in ((0.0, True), (1.0, False)):
        with OpProbe(device="cpu") as probe:
            torch.tensor([start], requires_grad=True).sqrt().backward()
        assert probe.report()["bad_gradients"] is found
