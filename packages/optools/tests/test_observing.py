"""Observing tools preserve results bitwise, and all tools restore torch."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from dl_optools.features import TOOLS, make_tool, tool_class
from dl_optools.launching.launch import TOOL_NAMES
from dl_optools.tool import Tool
from observed_programs import changed, hooks_behind, torch_now, train

OBSERVING = [x.feature for x in TOOL_NAMES if not x.changes]
LEVELS = ["api", "dispatch"]
OPTIONS: dict[str, dict[str, Any]] = {
    "autocompare": {"every": 1},
    "measure_op_time": {"budget": "off"},
}
Make = Callable[[str, str, str], Tool]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    monkeypatch.setenv("DL_TOOLS_OUTPUT", str(tmp_path))

    def make_with(feature: str, level: str, device: str) -> Tool:
        options = dict(OPTIONS.get(feature, {}))
        if feature != "fallback":
            options["stream"] = io.StringIO()
        return make_tool(feature, level=level, device=device, **options)

    return make_with


def differing(plain: dict[str, Any], found: dict[str, Any]) -> list[str]:
    assert plain.keys() == found.keys()
    return [name for name, x in plain.items() if not same_bits(x, found[name])]


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    # Compare bytes: -0.0 differs from 0.0, and nan equals nan.
    return torch.equal(*(x.contiguous().reshape(-1).view(torch.uint8) for x in (a, b)))


def test_every_tool_is_one_or_the_other() -> None:
    assert {x.feature for x in TOOL_NAMES} == set(TOOLS)
    assert set(TOOLS) - set(OBSERVING) == {"fallback", "cast_dtype"}


@pytest.mark.parametrize(("level", "kind"), [("api", "residual"), ("dispatch", "attention")])
@pytest.mark.parametrize("feature", OBSERVING)
def test_training_is_the_same_to_the_bit(
    feature: str, level: str, kind: str, device: str, make: Make
) -> None:
    plain = train(kind, device)
    before = torch_now()
    with make(feature, level, device) as tool:
        found = train(kind, device)
    assert differing(plain, found) == []
    assert changed(before, torch_now()) == []
    results = vars(tool)["results"]
    assert results.rows if feature == "measure_op_time" else results.calls


@pytest.mark.parametrize(("first", "kind"), [(1, "residual"), (0, "attention")])
def test_training_is_the_same_under_all_of_them(
    first: int, kind: str, device: str, make: Make
) -> None:
    plain = train(kind, device)
    before = torch_now()
    with contextlib.ExitStack() as stack:
        for at, feature in enumerate(OBSERVING):
            stack.enter_context(make(feature, LEVELS[(first + at) % 2], device))
        found = train(kind, device)
    assert differing(plain, found) == []
    assert changed(before, torch_now()) == []


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("feature", list(TOOLS))
def test_nothing_stays_of_a_tool(feature: str, level: str, device: str, make: Make) -> None:
    """No hook remains on a graph that outlives the tool, nor after an error."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh()).to(device)
    x = torch.ones(2, 3).to(device)
    before, variables = torch_now(), dict(os.environ)
    with make(feature, level, device):
        model(x).sum().backward()
        alive = model(x).sum()
    with contextlib.suppress(RuntimeError), make(feature, level, device):
        torch.mm(x, x)
    assert changed(before, torch_now()) == []
    assert dict(os.environ) == variables
    assert hooks_behind(alive) == 0
    for module in model.modules():
        assert not (module._forward_hooks or module._forward_pre_hooks)
        assert not (module._backward_hooks or module._backward_pre_hooks)
    for parameter in model.parameters():
        assert not (parameter._backward_hooks or parameter._post_accumulate_grad_hooks)
    alive.backward()


def test_a_tool_that_changes_is_noticed(device: str, make: Make) -> None:
    """The comparison of these tests detects a difference."""

    class Rounds(tool_class("dump_op_args")):  # type: ignore[misc]
        def handle(self, call: Any) -> Any:
            torch.rand(1)
            return super().handle(call)

    plain = train("residual", device)
    before = torch_now()
    tool = Rounds(level="api", device=device, stream=io.StringIO()).start()
    assert "modes" in changed(before, torch_now())
    found = train("residual", device)
    tool.stop()
    assert "generator of cpu" in differing(plain, found)
