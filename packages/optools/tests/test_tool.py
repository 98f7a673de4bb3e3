from __future__ import annotations

import subprocess
import sys

import pytest
import torch

import dl_optools
from dl_optools.features import tool_class
from dl_optools.launching.launch import TOOL_NAMES, ToolName
from dl_optools.tool import device_under_test
from watching import Seen


def test_a_decorated_function_runs_under_the_tool_and_may_call_itself() -> None:
    tool = Seen(ops="torch.add")

    @tool
    def count(depth: int) -> int:
        """Count down."""
        torch.add(torch.ones(1), 1)
        return depth and count(depth - 1)

    assert count(2) == 0 and count.__doc__ == "Count down."
    assert len(tool.names) == 3 and not tool.running


def test_a_condition_sees_the_operators_arguments() -> None:
    tool = Seen(ops=r"torch\.sum", condition=lambda x, dim=None, **_: dim == 1)
    with tool:
        torch.sum(torch.ones(2, 2), dim=1)
        torch.sum(torch.ones(2, 2), dim=0)
    assert len(tool.names) == 1


@pytest.mark.parametrize("level", ["api", "dispatch"])
def test_operators_of_a_condition_are_not_observed(level: str) -> None:
    tool = Seen(level=level, condition=lambda x, *_, **__: bool(torch.add(x, 1).sum() > 0))
    other = Seen(level=level)
    x = torch.ones(2)
    with other, tool:
        torch.mul(x, x)
    assert len(tool.names) == 1 and other.names == tool.names


def test_conditions_that_fail_say_so() -> None:
    def condition(*_: object) -> bool:
        raise LookupError("condition")

    with Seen(ops="torch.add", condition=condition), pytest.raises(LookupError, match="condition"):
        torch.add(torch.ones(1), 1)
    assert torch.add(torch.ones(1), 1) == 2


def test_the_device_is_the_accelerator_or_else_the_cpu() -> None:
    accelerator = torch.accelerator.current_accelerator()
    assert device_under_test() == ("cpu" if accelerator is None else accelerator.type)
    with Seen(device=None) as tool:
        assert tool.device == device_under_test()


def test_unknown_levels_are_refused() -> None:
    with pytest.raises(ValueError, match="'kernel' is not a level; the levels are api, dispatch"):
        Seen(level="kernel")


@pytest.mark.parametrize("kind", ["cpu:0", "nonsense", "mtia"])
def test_devices_that_are_not_here_are_refused(kind: str) -> None:
    tool = Seen(device=kind)
    with pytest.raises(
        ValueError, match=rf"\[Seen\] device='{kind}' is not a type .* available: .*cpu"
    ):
        tool.start()
    assert not tool.running


def test_importing_the_package_imports_no_torch() -> None:
    code = "import sys, dl_optools; assert 'torch' not in sys.modules; dl_optools.OpFallback"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        dl_optools.Nothing  # noqa: B018  (reading it is the test)


@pytest.mark.parametrize("each", TOOL_NAMES, ids=lambda each: each.name)
def test_a_tool_has_one_name(each: ToolName) -> None:
    module, _, kind = each.home.partition(":")
    words = module.rpartition(".")[2]
    assert words.replace("_", "") == kind.removeprefix("Op").lower()
    assert words.upper() == each.variable == tool_class(each.feature).variable
    assert each.name in words
    assert getattr(dl_optools, kind) is tool_class(each.feature)
