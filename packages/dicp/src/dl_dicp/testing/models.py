"""Comparison of a compiled model with the eager one: inference, then training steps."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from dl_dicp.program.agreement import STEPS
from dl_dicp.statistics import statistics
from dl_dicp.testing.agreement import difference, values_differ
from dl_dicp.testing.model_list import Family
from dl_dicp.testing.operators import Report, error_line

TRAINING_STEPS = 20
RATE = 0.01


def run(
    name: str,
    family: Family,
    *,
    dynamic: bool | None,
    backend: Any = "inductor",
    options: Mapping[str, Any] | None = None,
) -> Report:
    """Compare inference at each size, and ``TRAINING_STEPS`` training steps at
    alternating sizes.

    :param backend: torch's default, which compiles graphs of dl tensors with dl-dicp, or another.
    :param options: options of the backend.
    """
    report = Report(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in (_inference, _training) if family.trains else (_inference,):
            torch._dynamo.reset()
            statistics.reset()
            torch.manual_seed(0)
            model = family.make().to("dl")
            eager = copy.deepcopy(model)
            compiled = torch.compile(
                model, backend=backend, dynamic=dynamic, options=dict(options or {}) or None
            )
            try:
                report.problem = part(family, model, eager, compiled, report)
            except Exception as error:  # noqa: BLE001 - any exception is the outcome of the run
                report.problem = error_line(error)
            seen = statistics.snapshot()
            report.seen.count(compiled=seen.compiled)
            report.seen.engine_runs.update(seen.engine_runs)
            report.seen.dropped.update(seen.dropped)
            report.seen.count_run(seen.graphs, seen.calls, list(seen.host_calls.elements()))
            for reason in seen.eager.elements():
                report.seen.count_eager(reason)
            for reason in seen.fixed.elements():
                report.seen.count_fixed(reason)
            if report.problem is None:
                report.problem = _outside_of_graphs(family)
            if report.problem is not None:
                report.problem = f"{part.__name__[1:]}: {report.problem}"
                break
    torch._dynamo.reset()
    return report


def _inference(
    family: Family, model: nn.Module, eager: nn.Module, compiled: Callable[..., Any], report: Report
) -> str | None:
    model.eval()
    eager.eval()
    with torch.no_grad():
        for size in family.sizes:
            inputs = _on_dl(family, size)
            want = eager(*inputs)
            for _ in range(3):
                report.samples += 1
                problem = difference([compiled(*inputs)], [want])
                if problem is not None:
                    return f"size {size}: {problem}"
    return None


def _training(
    family: Family, model: nn.Module, eager: nn.Module, compiled: Callable[..., Any], report: Report
) -> str | None:
    sides: list[Callable[..., torch.Tensor]] = [compiled, eager]
    optimizers = [torch.optim.SGD(side.parameters(), lr=RATE) for side in (model, eager)]
    for step in range(TRAINING_STEPS):
        inputs = _on_dl(family, family.sizes[step % len(family.sizes)])
        losses = []
        for call, optimizer in zip(sides, optimizers, strict=True):
            optimizer.zero_grad()
            loss = call(*inputs).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        report.samples += 1
        # Rounding errors accumulate from step to step.
        problem = values_differ(losses[0], losses[1], steps=STEPS * (step + 1))
        if problem is not None:
            return f"loss of step {step}: {problem}"
    others = eager.state_dict()
    for key, value in model.state_dict().items():
        problem = values_differ(value, others[key], steps=STEPS * TRAINING_STEPS)
        if problem is not None:
            return f"{key} after {TRAINING_STEPS} steps: {problem}"
    return None


def _outside_of_graphs(family: Family) -> str | None:
    """Return the operators that ran outside contract graphs although they must not."""
    seen = statistics.snapshot()
    if not seen.graphs:
        return "no contract graph ran"
    if family.host_calls:
        return None
    if seen.host_calls:
        return f"host calls: {', '.join(sorted(seen.host_calls))}"
    return f"ran eagerly: {'; '.join(sorted(seen.eager))}" if seen.eager else None


def _on_dl(family: Family, size: int) -> tuple[torch.Tensor, ...]:
    return tuple(x.to("dl") for x in family.inputs(size))
