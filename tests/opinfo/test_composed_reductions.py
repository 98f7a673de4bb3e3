"""Composite reductions, sorts and searches run without a fallback to the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

from dl_torch_tests.opinfo.operators import Judgement, full_name

from .native import NativeReport, _calls, _one

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.vendor("cpu")]

FORWARD = (
    "all",
    "amin",
    "aminmax",
    "any",
    "bucketize",
    "count_nonzero",
    "cummax",
    "cummin",
    "cumprod",
    "equal",
    "histc",
    "histogram",
    "kthvalue",
    "logcumsumexp",
    "logsumexp",
    "median",
    "mode",
    "nanmedian",
    "nansum",
    "searchsorted",
    "std_mean",
    "std_mean.unbiased",
    "std.unbiased",
    "trace",
    "unique",
    "unique_consecutive",
    "var",
    "var.unbiased",
    "var_mean",
    "var_mean.unbiased",
)
INTEGERS = ("bincount", "cumsum", "sum", "prod", "sort", "unique", "max.reduction_with_dim")


def check(name: str, dtype: torch.dtype) -> None:
    """Check that every non-empty sample is right with the fallback forbidden."""
    report = NativeReport(name)
    with torch.dl.fallback("error"):
        for op in (op for op in op_db if full_name(op) == name):
            for call, arguments in _calls(op, "forward", dtype):
                _one(report, op, Judgement.of(op), call, arguments, "dl", False)
    assert report.right > 0
    assert not report.problems, report.text()
    assert report.refused <= report.right // 4, report.text()


@pytest.mark.parametrize("name", FORWARD)
def test_composed_operator_needs_no_fallback(name: str) -> None:
    check(name, torch.float32)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_need_no_fallback(name: str) -> None:
    check(name, torch.int64)


def _forms() -> dict[str, Callable[[str], Any]]:
    aten = torch.ops.aten
    values = torch.tensor([[3.0, -1.0, 2.0, 2.0], [0.5, 4.0, -2.0, 0.25], [1.0, 1.0, 7.0, -3.0]])
    # It is unspecified which of equal elements is selected.
    distinct = torch.tensor([[3.0, -1.0, 2.0, 2.5], [0.5, 4.0, -2.0, 0.25]])
    integers = torch.tensor([5, 1, 1, 3, 5, 0])
    edges = torch.tensor([-2.0, 0.0, 1.0, 5.0])
    long, real, boolean = torch.int64, torch.float32, torch.bool

    def case(op: Any, *arguments: Any, out: tuple[tuple[str, torch.dtype], ...] = ()) -> Any:
        def call(device: str) -> Any:
            moved = [a.to(device) if isinstance(a, torch.Tensor) else a for a in arguments]
            given = {name: torch.empty(0, device=device, dtype=kind) for name, kind in out}
            return op(*moved, **given)

        return call

    def one(kind: torch.dtype = real) -> tuple[tuple[str, torch.dtype], ...]:
        return (("out", kind),)

    pair = (("values", real), ("indices", long))
    bins = (("hist", real), ("bin_edges", real))
    return {
        "_aminmax": case(aten._aminmax, values),
        "_aminmax.dim": case(aten._aminmax.dim, values, 1, True),
        "_logcumsumexp.out": case(aten._logcumsumexp.out, values, 0, out=one()),
        "_unique": case(aten._unique, integers, True, True),
        "all.all_out": case(aten.all.all_out, values, out=one(boolean)),
        "all.dims": case(aten.all.dims, values, [0, 1], True),
        "all.dims_out": case(aten.all.dims_out, values, [0, 1], out=one(boolean)),
        "all.out": case(aten.all.out, values, 0, out=one(boolean)),
        "amax.out": case(aten.amax.out, values, [0], out=one()),
        "amin.out": case(aten.amin.out, values, [0], out=one()),
        "aminmax.out": lambda d: torch.aminmax(
            values.to(d), dim=1, out=(torch.empty(0, device=d), torch.empty(0, device=d))
        ),
        "any.all_out": case(aten.any.all_out, values, out=one(boolean)),
        "any.dims": case(aten.any.dims, values, [0], False),
        "any.dims_out": case(aten.any.dims_out, values, [0, 1], out=one(boolean)),
        "any.out": case(aten.any.out, values, 1, out=one(boolean)),
        "argmax.out": case(aten.argmax.out, values, 1, out=one(long)),
        "argmin.out": case(aten.argmin.out, values, 1, out=one(long)),
        "bucketize.Scalar": lambda d: torch.bucketize(0.5, edges.to(d)),
        "bucketize.Tensor_out": case(aten.bucketize.Tensor_out, values, edges, out=one(long)),
        "cumprod.out": case(aten.cumprod.out, values, 1, out=one()),
        "cumsum.out": case(aten.cumsum.out, values, 1, out=one(torch.float64)),
        "histc.out": case(aten.histc.out, values, 4, -2, 4, out=one()),
        "histogram.bin_ct_out": case(aten.histogram.bin_ct_out, values, 5, out=bins),
        "histogram.bins_tensor": case(aten.histogram.bins_tensor, values, edges),
        "histogram.bins_tensor_out": case(aten.histogram.bins_tensor_out, values, edges, out=bins),
        "kthvalue.values": case(aten.kthvalue.values, distinct, 2, 1, out=pair),
        "max.dim_max": case(aten.max.dim_max, values, 0, out=(("max", real), ("max_values", long))),
        "max.unary_out": case(aten.max.unary_out, values, out=one()),
        "mean.out": case(aten.mean.out, values, [1], out=one(torch.float64)),
        "mean.dtype": lambda d: torch.mean(integers.to(d), 0, dtype=torch.float32),
        "median.dim_values": case(aten.median.dim_values, values, 1, out=pair),
        "min.dim_min": case(
            aten.min.dim_min, values, 0, out=(("min", real), ("min_indices", long))
        ),
        "min.unary_out": case(aten.min.unary_out, values, out=one()),
        "nanmedian.dim_values": case(aten.nanmedian.dim_values, values, 1, out=pair),
        "nansum.out": case(aten.nansum.out, values, [0], out=one()),
        "norm.dtype_out": lambda d: torch.norm(
            values.to(d), 2, 0, dtype=torch.float64, out=torch.empty(0, device=d).double()
        ),
        "norm.out": case(aten.norm.out, values, 2, [0], out=one()),
        "prod.int_out": case(aten.prod.int_out, values, 0, out=one()),
        "searchsorted.Scalar": case(aten.searchsorted.Scalar, edges, 0.5),
        "searchsorted.Scalar_out": case(aten.searchsorted.Scalar_out, edges, 0.5, out=one(long)),
        "searchsorted.Tensor_out": case(aten.searchsorted.Tensor_out, edges, values, out=one(long)),
        "sort.values_stable": lambda d: torch.sort(
            values.to(d),
            stable=True,
            dim=1,
            out=(torch.empty(0, device=d), torch.empty(0, device=d, dtype=long)),
        ),
        "std.correction_out": case(aten.std.correction_out, values, [0], out=one()),
        "sum.IntList_out": case(aten.sum.IntList_out, values, [0], out=one(torch.float64)),
        "sum.dtype": lambda d: torch.sum(values.to(d), 0, dtype=torch.int32),
        "topk.values": case(aten.topk.values, distinct, 2, 1, out=pair),
        "unique_dim": lambda d: torch.unique(
            values.to(d), dim=1, return_inverse=True, return_counts=True
        ),
        "unique_dim_consecutive": lambda d: torch.unique_consecutive(
            values.to(d), dim=1, return_inverse=True, return_counts=True
        ),
        "var.correction_out": case(aten.var.correction_out, values, [0], out=one()),
    }


FORMS = _forms()


@pytest.mark.parametrize("name", FORMS)
def test_form_needs_no_fallback(name: str) -> None:
    want = FORMS[name]("cpu")
    with torch.dl.fallback("error"):
        got = FORMS[name]("dl")
    torch.testing.assert_close(got, want, check_device=False, equal_nan=True)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("largest", [False, True])
def test_topk_of_equal_integers_picks_each_element_once(dim: int, largest: bool) -> None:
    values = torch.randint(0, 4, (5, 10, 6), generator=torch.Generator().manual_seed(0))
    with torch.dl.fallback("error"):
        got, at = torch.topk(values.to("dl"), 4, dim, largest)
    assert torch.equal(got.cpu(), torch.topk(values, 4, dim, largest).values)
    assert torch.equal(values.gather(dim, at.cpu()), got.cpu())
    assert (at.cpu().sort(dim).values.diff(dim=dim) > 0).all()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 9, 100])
@pytest.mark.parametrize("right", [False, True])
def test_search_finds_every_gap(n: int, right: bool) -> None:
    sequence = torch.arange(n, dtype=torch.float32) // 2
    wanted = torch.cat([torch.arange(-2, n + 2) / 2, torch.tensor([float("nan")])])
    with torch.dl.fallback("error"):
        got = torch.searchsorted(sequence.to("dl"), wanted.to("dl"), right=right)
    assert torch.equal(got.cpu(), torch.searchsorted(sequence, wanted, right=right))


@pytest.mark.parametrize("op", ["cummax", "cummin", "cumprod", "logcumsumexp"])
def test_scans_pass_nan_and_infinity_on(op: str) -> None:
    inf, nan = float("inf"), float("nan")
    values = torch.tensor(
        [[-inf, -inf, 1.0, 1.0, inf, 2.0, inf], [1.0, 3.0, nan, 3.0, nan, 1.0, 2]]
    )
    want = getattr(torch, op)(values, 1)
    with torch.dl.fallback("error"):
        got = getattr(torch, op)(values.to("dl"), 1)
    torch.testing.assert_close(got, want, check_device=False, equal_nan=True)


def test_half_variance_is_rounded_once() -> None:
    values = (torch.arange(300.0) / 100).bfloat16()
    with torch.dl.fallback("error"):
        got = torch.var(values.to("dl"))
    assert got.item() == torch.var(values.double()).bfloat16().item()


def test_clipping_gradients_needs_no_fallback() -> None:
    def clipped(device: str) -> tuple[torch.Tensor, torch.Tensor]:
        parameter = torch.ones(40, device=device, requires_grad=True)
        parameter.grad = (torch.arange(40.0) / 7).to(device)
        norm = torch.nn.utils.clip_grad_norm_([parameter], 1.0, foreach=False)
        return norm, parameter.grad

    want = clipped("cpu")
    with torch.dl.fallback("error"):
        got = clipped("dl")
    torch.testing.assert_close(got, want, check_device=False)
