"""Composite indexing and padding operators run without a fallback to the CPU."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

from dl_torch_tests.opinfo.operators import Judgement, full_name
from dl_torch_tests.opinfo.sweep import describe

from .native import NativeReport, _calls, _one

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.vendor("cpu")]

FORWARD = (
    "block_diag",
    "cat",
    "column_stack",
    "dstack",
    "hstack",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_reduce.amax",
    "index_reduce.amin",
    "index_reduce.mean",
    "index_reduce.prod",
    "masked_scatter",
    "narrow_copy",
    "nn.functional.channel_shuffle",
    "nn.functional.embedding_bag",
    "nn.functional.pad.circular",
    "nn.functional.pad.constant",
    "nn.functional.pad.reflect",
    "nn.functional.pad.replicate",
    "nn.functional.pad.replicate_negative",
    "nonzero_static",
    "put",
    "repeat",
    "repeat_interleave",
    "scatter",
    "scatter_add",
    "scatter_reduce.amax",
    "scatter_reduce.amin",
    "scatter_reduce.mean",
    "scatter_reduce.prod",
    "scatter_reduce.sum",
    "take",
    "take_along_dim",
    "tile",
    "tril_indices",
    "triu_indices",
    "vstack",
)
BACKWARD = (
    "__getitem__",
    "gather",
    "index_select",
    "nn.functional.embedding_bag",
    "nn.functional.pad.circular",
    "nn.functional.pad.constant",
    "nn.functional.pad.reflect",
    "nn.functional.pad.replicate",
    "nn.functional.pad.replicate_negative",
    "nn.functional.unfold",
    "unfold",
)


def check(name: str, mode: str) -> None:
    """Check that every sample is right with the fallback forbidden."""
    report = NativeReport(name)
    with torch.dl.fallback("error"):
        for op in (op for op in op_db if full_name(op) == name):
            dtype = torch.float32 if torch.float32 in op.dtypes else torch.int64
            for call, arguments in _calls(op, mode, dtype):
                if not LEFT.match(describe(arguments)):
                    _one(report, op, Judgement.of(op), call, arguments, "dl", False)
    assert report.right > 0
    assert not report.problems and report.refused == 0, report.text()


# Calls that dl-core leaves to the CPU, in the notation of describe().
LEFT = re.compile(r".*(int32|uint8)\[")


@pytest.mark.parametrize("name", FORWARD)
def test_composed_operator_needs_no_fallback(name: str) -> None:
    check(name, "forward")


@pytest.mark.parametrize("name", BACKWARD)
def test_gradient_needs_no_fallback(name: str) -> None:
    check(name, "backward")


def _out_cases() -> dict[str, Callable[[str], Any]]:
    aten = torch.ops.aten
    index, mask = torch.tensor([2, 0, 1]), torch.tensor([[True], [False], [True]])
    values = torch.arange(12.0).reshape(3, 4)

    def on(device: str, *tensors: torch.Tensor) -> list[torch.Tensor]:
        return [tensor.to(device) for tensor in tensors]

    def out(device: str) -> torch.Tensor:
        return torch.empty(0, device=device)

    def case(op: Any, *arguments: Any, dtype: torch.dtype = torch.float32) -> Any:
        def call(device: str) -> Any:
            moved = [a.to(device) if isinstance(a, torch.Tensor) else a for a in arguments]
            return op(*moved, out=torch.empty(0, device=device, dtype=dtype))

        return call

    wide = index.reshape(3, 1).expand(3, 4)
    return {
        "arange": case(aten.arange.start_out, 1, 7, 2),
        "cat": lambda d: torch.cat(on(d, values, values), out=out(d)),
        "eye": case(aten.eye.out, 3),
        "eye.m": case(aten.eye.m_out, 3, 5),
        "gather": case(aten.gather.out, values, 0, wide),
        "index": lambda d: aten.index.Tensor_out(on(d, values)[0], on(d, index), out=out(d)),
        "index_add": case(aten.index_add.out, values, 0, index, values),
        "index_copy": case(aten.index_copy.out, values, 0, index, values),
        "index_reduce": case(aten.index_reduce.out, values, 0, index, values, "amax"),
        "index_select": case(aten.index_select.out, values, 0, index),
        "linspace": case(aten.linspace.out, 0, 1, 5),
        "logspace": case(aten.logspace.out, 0, 1, 5),
        "masked_select": case(aten.masked_select.out, values, mask),
        "narrow_copy": case(aten.narrow_copy.out, values, 1, 1, 2),
        "nonzero": case(aten.nonzero.out, values, dtype=torch.int64),
        "range": case(aten.range.out, 1, 7, 2),
        "scatter.src": case(aten.scatter.src_out, values, 0, wide, values),
        "scatter.value": case(aten.scatter.value_out, values, 0, wide, 3.0),
        "scatter_add": case(aten.scatter_add.out, values, 0, wide, values),
        "scatter_reduce": case(aten.scatter_reduce.two_out, values, 0, wide, values, "mean"),
        "stack": lambda d: torch.stack(on(d, values, values), out=out(d)),
        "take": case(aten.take.out, values, index),
    }


OUT_CASES = _out_cases()


@pytest.mark.parametrize("name", OUT_CASES)
def test_out_form_needs_no_fallback(name: str) -> None:
    with torch.dl.fallback("error"):
        got = OUT_CASES[name]("dl")
    want = OUT_CASES[name]("cpu")
    assert got.shape == want.shape
    torch.testing.assert_close(got.cpu(), want)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, i: x[i],
        lambda x, i: x.index_put((i,), torch.ones(1, device=x.device)),
        lambda x, i: x.index_add(0, i, x[:2]),
        lambda x, i: x.index_copy(0, i, x[:2]),
        lambda x, i: x.index_fill(0, i, 1.0),
        lambda x, i: x.scatter(0, i.reshape(2, 1), 1.0),
    ],
)
@pytest.mark.parametrize("bad", [3, -4])
def test_index_out_of_range_writes_nothing(call: Callable[..., Any], bad: int) -> None:
    x = torch.arange(12.0).reshape(3, 4).to("dl")
    before = x.cpu()
    with pytest.raises((IndexError, RuntimeError), match=r"out of (range|bounds)"):
        call(x, torch.tensor([0, bad], device="dl"))
    assert torch.equal(x.cpu(), before)


def test_assertions_on_values() -> None:
    good, bad = torch.ones((), device="dl"), torch.zeros((), device="dl")
    with torch.dl.fallback("error"):
        torch._assert_async(good)
        torch._assert_async(good, "unseen")
        with pytest.raises(RuntimeError, match="single nonzero value"):
            torch._assert_async(bad)
        with pytest.raises(RuntimeError, match="is wrong"):
            torch._assert_async(bad, "is wrong")
