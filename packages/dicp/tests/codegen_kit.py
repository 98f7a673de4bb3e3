"""Comparison of functions with the engine codegen and in eager mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from dl_dicp import statistics
from dl_dicp.engines.codegen import racing
from dl_dicp.reports.explain import explain

Function = Callable[..., Any]
OPTIONS: dict[str, Any] = {"engine": "codegen", "patterns": False}


def require_operators(*names: str) -> None:
    """Skip on a vendor without these operators, because graphs are of operators that it has."""
    if missing := set(names) - set(torch.dl.native_operators("dl")):
        pytest.skip(f"the vendor was built without {', '.join(sorted(missing))}")


def assert_near(place: int, made: Tensor, wanted: Tensor, eps: float) -> None:
    """Check that two tensors are equal, floats within ``eps`` relative to the largest element."""
    assert made.dtype == wanted.dtype and made.shape == wanted.shape
    assert made.stride() == wanted.stride()
    a, b = made.cpu(), wanted.cpu()
    if not a.is_floating_point():
        assert torch.equal(a, b), place
        return
    finite = b[b.isfinite()].abs()
    slack = eps * torch.finfo(b.dtype).eps * (float(finite.max()) if len(finite) else 0)
    torch.testing.assert_close(
        a, b, rtol=0, atol=slack, equal_nan=True, msg=lambda text: f"{place}: {text}"
    )


def run(function: Function, *given: Tensor, eps: float = 4.0, kernels: bool = True) -> str:
    """Check that compiled and eager runs agree in results and mutated arguments.

    :param eps: tolerance in rounding steps of the largest result.
    :param kernels: whether to check that kernels have run.
    :returns: the report of `dl dicp explain`.
    """
    compiled = torch.compile(function, backend="dl", options=OPTIONS)

    def once() -> None:
        mine, theirs = ([x.clone() for x in given] for _ in range(2))
        with torch.no_grad():
            made, wanted = compiled(*mine), function(*theirs)
        one = [*(made if isinstance(made, tuple) else (made,)), *mine]
        other = [*(wanted if isinstance(wanted, tuple) else (wanted,)), *theirs]
        for place, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_near(place, a, b, eps)

    once()
    once()
    racing.wait_for_kernels()
    before = statistics.engine_runs["codegen"]
    for _ in range(3):
        once()
    assert not statistics.dropped, statistics.dropped
    assert (statistics.engine_runs["codegen"] > before) == kernels
    return explain()
