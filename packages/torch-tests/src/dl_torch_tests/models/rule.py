"""The rule for one training step: the allowed distance of each result from float64's.

No a-priori bound exists for a model: the effect of a rounding in the first layer on the last
depends on the weights. The rule therefore measures it on the CPU, which runs the same step in
several equally accurate ways. The *spread* is the largest error among them, compared with the same
step in float64.

**Results and gradients** may be off by ``4 x spread + bound`` in each of two norms. The maximum
norm detects a single wrong element, the Euclidean norm an error that is small everywhere. They are
norms of the whole tensor, because single elements of two right results may differ by any factor if
the true value is near zero.

The *bound* is the bound of ``diopi_proto.tolerance`` for the last sum alone, normwise: a matrix
product over ``Step.terms`` terms, with the tensor's own norm as magnitude. It is needed for
tensors with so few elements that all variants happen to be right, and the spread is 0. The most
accurate order, a balanced tree, is sufficient for that: with 512 terms it allows 13 roundings.

**Updated weights** are judged element by element, twice. An optimizer may divide a gradient by its
own magnitude, as Adam does in its first step. If the true gradient is near zero, this turns a
rounding error into a whole step in any float32 run, which would dominate a norm of the whole
tensor.

- ``own``: against the float64 optimizer *applied to the gradient that the device computed*. Only
  the rounding of the step is allowed: at most ten operations, and the final addition.
- ``run``: against the float64 run. The allowed error of a weight is the effect of the allowed error
  of its gradient in the float64 optimizer, plus that rounding.

Integers, and the set of results, must be the same.

With autocast the same rule applies with the bound of the narrower dtype. In bfloat16 some percent
of a deep network's ReLUs switch compared with float64, which changes its gradients by a third on
every device; four times that allows anything. :meth:`Rule.blind_to` lists such gradients, so that a
test can state which it expects.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from diopi_proto.tolerance import OpClass, Order, allowed_error

from .one_step import Results, Step

SPREAD_MULTIPLE = 4.0

STEP_OPERATIONS = 10
"""Roundings of the longest step, Adam's: two moments, a root, two corrections, eps, the rate."""


@dataclass(frozen=True)
class Judgement:
    """Judgement of one result by one measure.

    :ivar measure: ``largest`` (element), ``norm``, ``own``, ``run``, or ``same``.
    :ivar error: distance from the reference; inf if the result cannot be compared.
    :ivar allowed: allowed distance; for ``own`` and ``run``, of the element with the largest
    ratio.
    """

    name: str
    measure: str
    error: float
    allowed: float
    detail: str = ""

    @property
    def ratio(self) -> float:
        """At most 1 if the result is right."""
        if self.allowed > 0:
            return self.error / self.allowed
        return 0.0 if self.error == 0 else math.inf

    @property
    def ok(self) -> bool:
        return self.error <= self.allowed

    def __str__(self) -> str:
        return (
            f"{self.name} [{self.measure}]: off by {self.error:.2e}, allowed {self.allowed:.2e} "
            f"({self.ratio:.3g} times){self.detail}"
        )


class Rule:
    """The rule for one step in one precision.

    :param reference: results in float64.
    :param variants: results of trusted implementations.
    :param dtype: narrowest dtype in which the step computes: float32, or autocast's dtype.
    :raises ValueError: there is no variant, or reference or variants are not finite.
    """

    def __init__(
        self,
        step: Step,
        reference: Results,
        variants: Mapping[str, Results],
        dtype: torch.dtype = torch.float32,
    ) -> None:
        if not variants:
            raise ValueError("[Rule] variants is empty; the spread is measured on at least one")
        for results in (reference, *variants.values()):
            broken = [name for name, value in results.items() if not value.isfinite().all()]
            if broken:
                raise ValueError(f"[Rule] results are not finite: {broken}")
        self._step = step
        self._reference = reference
        self._variants = list(variants.values())
        self._dtype = str(dtype).removeprefix("torch.")
        self._before = step.weights()
        lower, upper = ({**reference} for _ in range(2))
        for name, wanted in reference.items():
            if name.startswith("gradient of "):
                allowed = self._allowed(name, wanted, math.inf)
                lower[name], upper[name] = wanted - allowed, wanted + allowed
        # Optimizers are monotone in each element of a gradient, so that the ends bound all values
        # between.
        self._reach = [step.update(lower), step.update(upper)]

    @property
    def names(self) -> list[str]:
        """Return the names that a step has to provide."""
        return list(self._reference)

    def judge(self, results: Results) -> list[Judgement]:
        """Judge every result, including those within the bounds."""
        found = []
        own = self._step.update(results) if self._complete(results) else {}
        for name in sorted(self._reference.keys() | results.keys()):
            if name not in results or name not in self._reference:
                where = "the step" if name not in results else "the reference"
                found.append(Judgement(name, "same", math.inf, 0.0, f": {where} has none"))
                continue
            found += self._judge_tensor(name, results[name], own.get(name))
        return found

    def failures(self, results: Results) -> list[str]:
        """Describe what is wrong with ``results``, the worst first."""
        wrong = [judgement for judgement in self.judge(results) if not judgement.ok]
        return [str(judgement) for judgement in sorted(wrong, key=lambda one: -one.ratio)]

    def blind_to(self) -> list[str]:
        """Return the gradients that are effectively untested: zeros would be within both bounds."""
        return [
            name
            for name, wanted in self._reference.items()
            if name.startswith("gradient of ")
            and all(
                self._allowed(name, wanted, order) >= _norm(wanted, order)
                for order in (math.inf, 2.0)
            )
        ]

    def relative_error_of(self, name: str) -> float:
        """Return the allowed error of a result in the Euclidean norm, relative to its own norm."""
        wanted = self._reference[name]
        return self._allowed(name, wanted, 2.0) / _norm(wanted, 2.0)

    def relative_error_of_output(self) -> float:
        """Return the allowed error of ``output`` in units of its root mean square.

        The output is at the end of the longest forward path, so that earlier results have smaller
        errors.
        """
        output = self._reference["output"]
        return self._allowed("output", output, math.inf) / float(output.square().mean().sqrt())

    def _complete(self, results: Results) -> bool:
        gradients = (name for name in self._reference if name.startswith("gradient of "))
        return all(
            name in results and results[name].shape == self._reference[name].shape
            for name in gradients
        )

    def _judge_tensor(
        self, name: str, got: torch.Tensor, own: torch.Tensor | None
    ) -> Iterator[Judgement]:
        wanted, example = self._reference[name], self._variants[0][name]
        if (got.dtype, got.shape) != (example.dtype, example.shape):
            detail = (
                f": {got.dtype} {tuple(got.shape)}, want {example.dtype} {tuple(example.shape)}"
            )
            yield Judgement(name, "same", math.inf, 0.0, detail)
        elif not got.is_floating_point():
            yield Judgement(name, "same", float((got != wanted).sum()), 0.0)
        elif not got.isfinite().all():
            yield Judgement(name, "same", math.inf, 0.0, ": not all elements are finite")
        elif name in self._before:
            if own is not None:
                rounding = self._step_rounding(name, own)
                yield _worst_element(name, "own", got.double() - own, rounding)
            ends = [
                (end[name] - wanted).abs() + self._step_rounding(name, end[name])
                for end in self._reach
            ]
            yield _worst_element(name, "run", got.double() - wanted, torch.maximum(*ends))
        else:
            for measure, order in (("largest", math.inf), ("norm", 2.0)):
                error = _norm(got.double() - wanted, order)
                yield Judgement(name, measure, error, self._allowed(name, wanted, order))

    def _allowed(self, name: str, wanted: torch.Tensor, order: float) -> float:
        """Return ``4 x spread + bound`` in the norm of this order."""
        errors = (variant[name].double() - wanted for variant in self._variants)
        spread = max(_norm(error, order) for error in errors)
        bound = allowed_error(
            np.asarray(_norm(wanted, order)),
            self._dtype,
            OpClass.MATMUL,
            self._step.terms,
            order=Order.PAIRWISE,
        )
        return SPREAD_MULTIPLE * spread + float(bound)

    def _step_rounding(self, name: str, after: torch.Tensor) -> torch.Tensor:
        """Return the elementwise bound of the error in a float32 step to ``after``."""
        before, reached = self._before[name].numpy(), after.numpy()
        magnitude = np.abs(before) + np.abs(reached - before)
        bound = allowed_error(
            reached, "float32", OpClass.ROUNDING, magnitude=magnitude, roundings=STEP_OPERATIONS
        )
        return torch.from_numpy(bound)


def check(rule: Rule, results: Results) -> None:
    """Return a report of how close ``results`` are to the bounds.

    :raises AssertionError: a result exceeds its bound.
    """
    print(worst(rule.judge(results)))
    failures = rule.failures(results)
    assert not failures, "\n".join(failures)


def worst(judgements: Iterable[Judgement], count: int = 5) -> str:
    """Return the results with the largest ratios, one per line."""
    ranked = sorted(judgements, key=lambda one: -one.ratio)[:count]
    return "\n".join(f"  {judgement}" for judgement in ranked)


def _norm(values: torch.Tensor, order: float) -> float:
    return float(torch.linalg.vector_norm(values, order)) if values.numel() else 0.0


def _worst_element(
    name: str, measure: str, error: torch.Tensor, allowed: torch.Tensor
) -> Judgement:
    """Return the element with the largest ratio of error and bound, or one without an error."""
    error = error.abs()
    ratio = torch.where(error > 0, error / allowed, 0.0)
    place = int(ratio.argmax())
    index = tuple(int(i) for i in np.unravel_index(place, error.shape))
    off, bound = (float(values.flatten()[place]) for values in (error, allowed))
    return Judgement(name, measure, off, bound, f" at {index}")
