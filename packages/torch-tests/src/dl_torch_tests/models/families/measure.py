"""Measurement of a family: a step against the CPU, ten steps, and where operators ran."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import torch

from ..one_step import Results, Step
from ..rule import Judgement, Rule
from .family import Family

STEPS = 10
LEAST_FALL = 0.01
"""Minimum decrease of the loss in ten steps, as a share of the first loss."""

LEAST_CERTAINTY = 0.01
"""Maximum allowed error of a family, as a share of output or gradient; more would test nothing."""

ZERO = 1e-10
"""Share of the largest gradient below which a gradient consists of rounding errors."""

PARTS = {"gradient of": "gradients", "updated": "weights"}


@dataclass(frozen=True)
class Measurement:
    """Measurement of one family on one device.

    :ivar outputs: largest distance of loss or output from float64's, in units of the allowed
        distance: at most 1 if they are right.
    :ivar gradients: largest such distance of a gradient.
    :ivar weights: largest such distance of a weight or buffer after the step.
    :ivar losses: losses of ten steps on one batch.
    :ivar native: share of leaf operator calls in the vendor's code, 0 to 1.
    :ivar calls: number of leaf operator calls of the eleven steps.
    :ivar fallbacks: number of calls of each leaf operator that ran on the CPU, by name.
    :ivar problem: description of the failure; None if the family did not fail.
    """

    outputs: float
    gradients: float
    weights: float
    losses: list[float]
    native: float
    calls: int
    fallbacks: dict[str, int]
    problem: str | None = None

    def facts(self) -> dict[str, Any]:
        """Return the measurement as JSON data."""
        return asdict(self)


def measure(family: Family, device: torch.device) -> Measurement:
    """Run the family's steps on ``device``, which is dl, and judge them."""
    step = family.step()
    reference = step.reference()
    rule = Rule(step, reference, step.cpu_variants())
    torch.dl.reset_fallback_stats()
    results = step.run(device)
    losses = train(step, device)
    stats = torch.dl.fallback_stats()
    native, calls = stats.totals["native"], stats.totals["native"] + stats.totals["fallback"]
    counts = {name: entry["count"] for name, entry in stats.items() if entry["count"]}
    problems = [*weaknesses(rule, reference), *rule.failures(results)[:3], *not_falling(losses)]
    return Measurement(
        **largest(rule.judge(results)),
        losses=losses,
        native=native / calls,
        calls=calls,
        fallbacks=dict(sorted(counts.items(), key=lambda one: -one[1])),
        problem="; ".join(problems) or None,
    )


def train(step: Step, device: torch.device) -> list[float]:
    """Return the losses of ten steps on the batch of ``step``.

    :raises ValueError: the loss is on another device.
    """
    model = copy.deepcopy(step.model).to(device).train()
    batch = {name: value.to(device) for name, value in step.batch.items()}
    optimizer = step.make_optimizer(list(model.parameters()))
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss, _ = step.forward(model, batch)
        if loss.device.type != device.type:
            raise ValueError(f"[train] the loss is on {loss.device}, not on {device}")
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return [float(loss) for loss in losses]


def not_falling(losses: list[float]) -> list[str]:
    """Describe losses that do not fall by a hundredth from first to last; None if they do."""
    first, last = sum(losses[:3]) / 3, sum(losses[-3:]) / 3
    if math.isfinite(last) and first - last > LEAST_FALL * abs(first):
        return []
    return [f"the losses do not fall: {', '.join(f'{loss:.4g}' for loss in losses)}"]


def weaknesses(rule: Rule, reference: Results) -> list[str]:
    """Describe why the rule would test little of this family, which is a fault of the family."""
    gradients = {
        name: float(torch.linalg.vector_norm(value))
        for name, value in reference.items()
        if name.startswith("gradient of ")
    }
    # A gradient that is zero in exact arithmetic, such as a key bias's gradient, is only rounding.
    zero = ZERO * max(gradients.values())
    seen = [name for name, size in gradients.items() if size > zero]
    errors = {name: rule.relative_error_of(name) for name in ("output", *seen)}
    worst = max(errors, key=lambda name: errors[name])
    if errors[worst] <= LEAST_CERTAINTY:
        return []
    return [f"the CPU's own errors would allow one of {errors[worst]:.1%} in the {worst}"]


def largest(judgements: Iterable[Judgement]) -> dict[str, float]:
    """Return the largest ratio of each part of a step's results."""
    ratios = {"outputs": 0.0, "gradients": 0.0, "weights": 0.0}
    for judgement in judgements:
        part = next((PARTS[p] for p in PARTS if judgement.name.startswith(p)), "outputs")
        ratios[part] = max(ratios[part], judgement.ratio)
    return ratios
