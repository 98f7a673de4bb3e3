"""The rule that judges one training step: how far each of its results may be from float64's.

A model has no bound of its own: what a rounding in its first layer does to its last depends on the
weights. The CPU shows what float32 permits. It runs the same step in several equally good ways, and
the *spread* is the largest error among them, against the same step in float64.

**Results and gradients** may be off by ``4 x spread + bound``, in two norms, both of which have to
hold. The largest element (maximum norm) shows a wrong element, the Euclidean norm an error that is
small everywhere. They are norms of the whole tensor: element by element, two right answers differ
by any factor where the true value happens to be near zero.

The *bound* is that of ``diopi_proto.tolerance`` for the last sum alone, normwise: a product of
matrices over ``Step.terms`` terms, at the tensor's own norm as magnitude. It is there for what the
spread cannot see, tensors of so few elements that all variants happen to be right. For that the
narrowest order, a balanced tree, is enough: with 512 terms it allows 13 roundings.

**Updated weights** are judged element by element, twice. An optimizer may divide a gradient by its
own size, as Adam does in its first step. Where the true gradient is near zero, that makes a whole
step of a rounding error, in any float32 run, and a norm of the whole tensor would see nothing else.

- ``own``: against the float64 optimizer *applied to the gradient that the device computed*. No
  uncertainty is left but the rounding of the step: ten operations at most, and adding the result.
- ``run``: against the float64 run. The allowed error of a weight is what the float64 optimizer
  makes of the allowed error of its gradient, plus that rounding.

Integers, and which results there are, have to be the same.

With autocast the same holds, with the bound of the narrower dtype. In bfloat16 some per cent of a
deep network's ReLUs decide otherwise than in float64, which puts its gradients off by a third on
every device; four times that allows anything. :meth:`Rule.blind_to` names such gradients, for a
test to say which it expects.
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
"""Roundings of Adam's step, the longest: two moments, a root, two corrections, eps, the rate."""


@dataclass(frozen=True)
class Judgement:
    """One result by one measure.

    :ivar measure: ``largest`` (element), ``norm``, ``own``, ``run``, or ``same``.
    :ivar error: distance from the reference; inf where there is nothing to compare.
    :ivar allowed: for ``own`` and ``run``, at the element that is the most times its bound away.
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

    :param reference: its results in float64.
    :param variants: its results from trusted implementations.
    :param dtype: the narrowest dtype the step computes in: float32, or that of an autocast.
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
            raise ValueError("[Rule] without a variant there is no spread")
        for results in (reference, *variants.values()):
            broken = [name for name, value in results.items() if not value.isfinite().all()]
            if broken:
                raise ValueError(f"[Rule] no error can be measured, not finite: {broken}")
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
        # Optimizers are monotone in each element of a gradient: the ends show all between them.
        self._reach = [step.update(lower), step.update(upper)]

    @property
    def names(self) -> list[str]:
        """Return the names that a step has to provide."""
        return list(self._reference)

    def judge(self, results: Results) -> list[Judgement]:
        """Judge every result, those within the bounds too."""
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
        """Say what is wrong with ``results``, the worst first."""
        wrong = [judgement for judgement in self.judge(results) if not judgement.ok]
        return [str(judgement) for judgement in sorted(wrong, key=lambda one: -one.ratio)]

    def blind_to(self) -> list[str]:
        """Gradients of which nothing is asked: zeros would be within the bounds, in both norms."""
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
        """The largest error that a result may have in the Euclidean norm, in units of its own."""
        wanted = self._reference[name]
        return self._allowed(name, wanted, 2.0) / _norm(wanted, 2.0)

    def relative_error_of_output(self) -> float:
        """The largest error that ``output`` may have, in units of its root mean square.

        The output is at the end of the longest way forward: earlier results are off by less.
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
        """``4 x spread + bound`` in the norm of this order."""
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
    """Show how near the bounds ``results`` come.

    :raises AssertionError: beyond them.
    """
    print(worst(rule.judge(results)))
    failures = rule.failures(results)
    assert not failures, "\n".join(failures)


def worst(judgements: Iterable[Judgement], count: int = 5) -> str:
    """The results nearest to their bounds, or beyond, one a line."""
    ranked = sorted(judgements, key=lambda one: -one.ratio)[:count]
    return "\n".join(f"  {judgement}" for judgement in ranked)


def _norm(values: torch.Tensor, order: float) -> float:
    return float(torch.linalg.vector_norm(values, order)) if values.numel() else 0.0


def _worst_element(
    name: str, measure: str, error: torch.Tensor, allowed: torch.Tensor
) -> Judgement:
    """The element that is the most times its bound away, or 0 off."""
    error = error.abs()
    ratio = torch.where(error > 0, error / allowed, 0.0)
    place = int(ratio.argmax())
    index = tuple(int(i) for i in np.unravel_index(place, error.shape))
    off, bound = (float(values.flatten()[place]) for values in (error, allowed))
    return Judgement(name, measure, off, bound, f" at {index}")
