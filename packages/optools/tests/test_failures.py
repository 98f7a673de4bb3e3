"""An observing tool that fails does not affect the program, and warns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from dl_optools import (
    OpAutoCompare,
    OpCapture,
    OpDtypeCast,
    OpFallback,
    OpObserve,
    OpOverflowCheck,
    OpTimeMeasure,
)
from dl_optools.backward_graph import GradientWatch
from dl_optools.call import THREAD, OpCall
from dl_optools.failures import ToolFailureWarning
from dl_optools.names import Level
from dl_optools.tool import Tool
from watching import Seen, leaf

BOTH = pytest.mark.parametrize("level", list(Level))
TOOLS = [
    OpAutoCompare,
    OpCapture,
    OpDtypeCast,
    OpFallback,
    OpObserve,
    OpOverflowCheck,
    OpTimeMeasure,
]


class FailsBefore(Seen):
    observes = True

    def handle(self, call: OpCall) -> Any:
        raise ValueError("no idea")


class FailsAfter(Seen):
    observes = True

    def handle(self, call: OpCall) -> Any:
        super().handle(call)
        raise ValueError("no idea")


class Acts(FailsAfter):
    observes = False


@BOTH
@pytest.mark.parametrize("failing", [FailsBefore, FailsAfter])
def test_the_program_goes_on(failing: type[Tool], level: Level) -> None:
    x = torch.arange(3.0)
    inner, outer = Seen(level=level, ops=r".*\badd_\b.*"), Seen(level=level)
    with inner, failing(level=level, ops=r".*\badd_\b.*"), outer:
        with pytest.warns(ToolFailureWarning, match=r"failed at .*add_.*: ValueError: no idea"):
            y = x.add_(1)
        assert THREAD.inside is False
    # Once, whether the tool failed before or after the operator ran.
    assert y is x and x.tolist() == [1, 2, 3]
    assert any("add_" in name for name in outer.names)


@BOTH
def test_exceptions_of_the_operator_propagate(level: Level) -> None:
    class Observes(Seen):
        observes = True

    with Observes(level=level), Observes(level=level), pytest.raises(RuntimeError, match="size"):
        torch.add(torch.ones(2), torch.ones(3))


def test_a_tool_that_acts_does_not_fail_in_silence() -> None:
    failing = pytest.raises(ValueError, match="no idea")
    with FailsBefore(), Acts(ops="torch.exp"), failing, pytest.warns(ToolFailureWarning):
        torch.exp(torch.ones(2))


def test_backward_goes_on_if_a_report_fails() -> None:
    def report(gradients: object) -> None:
        raise ValueError("no idea")

    x = leaf(3)
    watch = GradientWatch([x], report)
    y = x.exp()
    assert watch.attach([y])
    with pytest.warns(ToolFailureWarning, match="gradients of a call: ValueError: no idea"):
        y.sum().backward()
    assert x.grad is not None and x.grad.equal(y)


@BOTH
@pytest.mark.parametrize("tool", TOOLS)
def test_a_view_that_autograd_refuses(
    tool: type[Tool], level: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``nn.Embedding`` writes to the row of its padding in this way."""
    monkeypatch.setenv("DL_TOOLS_OUTPUT", str(tmp_path))
    weight = torch.nn.Parameter(torch.ones(4, 3))
    with tool(level=level, device="cpu"):
        with torch.no_grad():
            row = weight[1]
            row.fill_(0)
            taken = torch.add(row, 1)
        (weight * 2).sum().backward()
    assert row.eq(0).all() and taken.eq(1).all()
    assert weight.grad is not None and weight.grad.eq(2).all()
