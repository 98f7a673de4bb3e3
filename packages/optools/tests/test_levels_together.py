"""Both levels at once: each call is observed once at each."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from dl_optools import levels
from dl_optools.call import OpCall
from dl_optools.names import Level
from dl_optools.tool import Tool


class Names(Tool):
    variable = "NAMES"

    def opened(self) -> None:
        self.seen: list[str] = []

    def handle(self, call: OpCall) -> Any:
        self.seen.append(call.name)
        return call.proceed()


@pytest.mark.parametrize("wanted", [".*", "aten.exp.default"])
def test_overloads_of_backward_are_not_functions(wanted: str) -> None:
    x = torch.ones(2, 2, requires_grad=True)
    functions = Names(device="cpu", level=Level.API)
    overloads = Names(device="cpu", level=Level.DISPATCH, ops=wanted)
    with functions, overloads:
        torch.exp(x).sum().backward()
    assert functions.seen == ["torch.exp", "torch.Tensor.sum"]
    assert ("aten.mul.Tensor" in overloads.seen) == (wanted == ".*")
    assert levels.can_change_modes()


def test_overloads_that_the_program_calls_by_name_are() -> None:
    with Names(device="cpu", level=Level.API) as functions:
        torch.ops.aten.neg.default(torch.ones(2))
    assert functions.seen == ["aten.neg.default"]
