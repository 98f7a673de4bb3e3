"""Tools that remove themselves during steps that they do not measure."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.overrides import _get_current_function_mode_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

import dl_optools
from dl_optools.call import OpCall
from dl_optools.options import OptionError
from dl_optools.sampling import SampledTool


class Names(SampledTool):
    variable = "NAMES"

    def opened(self) -> None:
        self.seen: list[str] = []
        self.ended = 0

    def handle(self, call: OpCall) -> Any:
        if self.measuring:
            self.seen.append(call.name)
        return call.proceed()

    def step_ended(self) -> None:
        self.ended += 1


def test_modes_are_on_the_stack_in_measured_steps_only() -> None:
    tool = Names(device="cpu", every=3)
    depths = []
    with tool:
        for _ in range(7):
            torch.ones(1).add(1)
            depths.append(len(_get_current_function_mode_stack()))
            dl_optools.step()
    assert depths == [1, 0, 0, 1, 0, 0, 1]
    assert tool.seen.count("torch.Tensor.add") == 3
    assert tool.ended == 3
    assert _get_current_function_mode_stack() == []
    assert _get_current_dispatch_mode_stack() == []


def test_it_measures_again_after_a_restart() -> None:
    tool = Names(device="cpu", every=2)
    for _ in range(2):
        with tool:
            torch.ones(1).add(1)
            dl_optools.step()
        assert tool.seen == ["torch.Tensor.add"]


def test_optimizers_that_step_within_backward_change_no_mode_there() -> None:
    weights = [torch.ones(2, requires_grad=True) for _ in range(3)]
    optimizers = {weight: torch.optim.SGD([weight], lr=0.1) for weight in weights}
    for weight, optimizer in optimizers.items():
        weight.register_post_accumulate_grad_hook(lambda _, step=optimizer.step: step())
    tool = Names(device="cpu", every=2, level="dispatch")
    with tool:
        for _ in range(6):
            sum((weight * 2).sum() for weight in weights).backward()  # type: ignore[union-attr]
            torch.ones(1).add(1)
    assert tool.ended >= 2
    assert _get_current_function_mode_stack() == []
    assert _get_current_dispatch_mode_stack() == []


def test_another_tool_keeps_its_place() -> None:
    every, other = Names(device="cpu", every=2), Names(device="cpu")
    with every:
        other.start()
        for _ in range(4):
            torch.ones(1).add(1)
            dl_optools.step()
        other.stop()
    assert (len(every.seen), len(other.seen)) == (2, 4)


def test_another_thread_may_not_stop_it() -> None:
    tool = Names(device="cpu").start()
    errors: list[BaseException] = []

    def stop() -> None:
        try:
            tool.stop()
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=stop)
    thread.start()
    thread.join()
    tool.stop()
    assert len(errors) == 1 and "another thread" in str(errors[0])


def test_variables_say_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OP_NAMES_EVERY", "5")
    monkeypatch.setenv("OP_NAMES_BUDGET", "1.5")
    assert (Names().budget.every, Names().budget.percent) == (5, 1.5)
    monkeypatch.setenv("OP_NAMES_BUDGET", "off")
    assert Names().budget.percent is None
    assert Names(budget=3).budget.percent == 3


@pytest.mark.parametrize(("name", "value"), [("EVERY", "0"), ("BUDGET", "-2"), ("BUDGET", "all")])
def test_wrong_variables_are_named(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(f"OP_NAMES_{name}", value)
    with pytest.raises(OptionError, match=f"OP_NAMES_{name}"):
        Names()
