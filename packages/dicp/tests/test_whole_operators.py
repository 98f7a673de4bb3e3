"""Interpolation stays one vendor operator at all sizes; torch's decompositions are restored
afterwards."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from agreement import assert_agree
from dl_dicp import statistics
from dl_dicp.recording.whole_operators import whole_operators
from dl_dicp.reports.explain import explain

# Torch warns when it first imports the code that reads the scale factors.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:The .grad attribute")

MODES: dict[str, tuple[int, dict[str, Any]]] = {
    "nearest": (4, {}),
    "linear": (3, {"align_corners": True}),
    "bilinear": (4, {"align_corners": False}),
    "bicubic": (4, {"align_corners": False}),
    "trilinear": (5, {"align_corners": False}),
}


aten = torch.ops.aten
BY_FACTORS: dict[str, Any] = {
    "nearest": lambda x: aten.upsample_nearest2d.vec(x, None, [2.0, 3.0]),
    "linear": lambda x: aten.upsample_linear1d.vec(x, None, True, [2.0]),
    "bilinear": lambda x: aten.upsample_bilinear2d.vec(x, None, False, [2.0, 2.0]),
    "bicubic": lambda x: aten.upsample_bicubic2d.vec(x, None, False, [2.0, 2.0]),
    "trilinear": lambda x: aten.upsample_trilinear3d.vec(x, None, False, [2.0, 2.0, 2.0]),
}


@pytest.mark.parametrize("by_factors", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_one_program_serves_all_sizes(mode: str, by_factors: bool) -> None:
    dims, options = MODES[mode]

    def function(x: torch.Tensor) -> torch.Tensor:
        if by_factors:
            made: torch.Tensor = BY_FACTORS[mode](x * 2)
            return made.relu()
        return F.interpolate(x * 2, mode=mode, size=9, **options).relu()

    compiled = torch.compile(function, backend="dl", dynamic=True)
    for size in (5, 6, 8):
        x = torch.randn([2, 3, *[size] * (dims - 2)])
        mine, theirs = (x.clone().to("dl").requires_grad_() for _ in range(2))
        made, wanted = compiled(mine), function(theirs)
        assert_agree(made, wanted)
        grad = torch.randn(wanted.shape).to("dl")
        made.backward(grad)
        wanted.backward(grad)
        assert_agree(mine.grad, theirs.grad)
    assert statistics.compiled and not statistics.fixed and not statistics.host_calls
    assert "diopiIndexSelect" not in explain() and "diopiUpsample" in explain()


def test_a_layout_is_kept() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return F.interpolate(x, scale_factor=2, mode="bilinear") + 1

    x = torch.randn(2, 8, 4, 4).to(memory_format=torch.channels_last).to("dl")
    compiled = torch.compile(function, backend="dl")
    for _ in range(3):
        assert_agree(compiled(x), function(x))
        assert compiled(x).stride() == function(x).stride()


def test_torchs_own_are_there_again() -> None:
    operator = torch.ops.aten.upsample_bilinear2d.vec
    before = dict(operator.py_kernels)
    with whole_operators():
        assert operator.py_kernels != before
    assert operator.py_kernels == before
    compiled = torch.compile(lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"))
    x = torch.randn(1, 2, 5, 5)
    torch.testing.assert_close(compiled(x), F.interpolate(x, scale_factor=2, mode="bilinear"))
