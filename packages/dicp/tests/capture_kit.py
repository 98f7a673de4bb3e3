"""Registry and helpers for the cases of the engine ``capture``."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from dl_core import _C
from dl_dicp import statistics
from dl_dicp.compiled import all_graphs
from dl_dicp.engines.device_graph import captured_program
from dl_dicp.engines.device_graph.engine import DeviceGraphEngine
from dl_dicp.program import cache
from dl_dicp.reports.explain import explain
from dl_vendor_async_test.control import Control

Case = Callable[[], None]

CASES: dict[str, Case] = {}
LIES: dict[str, Case] = {}
"""Cases in which the vendor omits the last node of each graph."""
CHECKS: dict[str, Case] = {}
"""Cases in which dl-core checks memory."""


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def lie(function: Case) -> Case:
    LIES[function.__name__] = function
    return function


def check(function: Case) -> Case:
    CHECKS[function.__name__] = function
    return function


def compile_(function: Callable[..., Any], dynamic: bool = False, **options: Any) -> Any:
    chosen = {"engine": "capture", **options}
    return torch.compile(function, backend="dl", dynamic=dynamic, options=chosen)


def vector(*shape: int) -> Tensor:
    return torch.randn(*shape or (8,), device="dl")


def items(call: Callable[[], Any]) -> int:
    """Return the number of work items that a call enqueues."""
    control = Control(_C.vendor_handle(0))
    before = control.counters(0).items_enqueued
    call()
    return int(control.counters(0).items_enqueued - before)


def chain(x: Tensor) -> Tensor:
    for _ in range(6):
        x = (x * 0.5).tanh()
    return x


def programs() -> list[captured_program.CapturedProgram]:
    found = [v.program for g in all_graphs for v in g.variants if v.program is not None]
    engines = [made.engine for made in found if isinstance(made.engine, DeviceGraphEngine)]
    return [each for engine in engines for each in engine.captured.values()]


def same(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one.cpu(), other.cpu(), rtol=0, atol=1e-6)


def agrees(compiled: Any, eager: Any, *given: Tensor) -> None:
    assert same(compiled(*given), eager(*given))


def declined(function: Callable[[Tensor], Tensor], times: int = 5, **options: Any) -> str:
    """Check that results are right and one warning is given; return why the graph was declined."""
    compiled = compile_(function, **options)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(times):
            agrees(compiled, function, vector())
    assert len([each for each in said if "cannot capture" in str(each.message)]) == 1
    ((name, why),) = statistics.dropped
    assert name == "capture" and f"not captured, because {why}" in explain()
    return str(why)


def outcome(name: str) -> str:
    """Run a case; return its error, empty if it passed."""
    torch._dynamo.reset()
    all_graphs.clear()
    cache.clear()
    statistics.reset()
    captured_program.forget_warning()
    torch.manual_seed(0)
    try:
        {**CASES, **LIES, **CHECKS}[name]()
    except Exception:  # noqa: BLE001 - the test reports it
        return traceback.format_exc()
    return ""
