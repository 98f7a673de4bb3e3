"""What the draws of random operators have to be like: support, mean, scale and distribution."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from diopi_proto.tolerance import compare_distribution
from dl_core.torch_backend.judging.comparison import to_host

SIGMAS = 7.0
"""A mean that is further off is wrong: by chance once in 4e11 samples."""
FEWEST = 64
"""Of fewer values mean and scale say nothing."""


@dataclass(frozen=True)
class Law:
    """A distribution.

    :ivar text: ``Bernoulli(0.1)``.
    :ivar low: smallest value, and :ivar high: the largest one.
    :ivar alike: all draws have the same distribution: neighbours tell nothing of each other.
    :ivar cdf: P(X <= x); None: of whole numbers, of 0 and 1 where ``high`` is 1.
    """

    text: str
    low: float
    high: float
    mean: float
    deviation: float
    cdf: Callable[[Any], Any] | None = None
    alike: bool = True

    def problem(self, values: torch.Tensor) -> str:
        """What is wrong with a sample; empty if nothing is."""
        x = values.double().flatten()
        if x.numel() == 0:
            return ""
        if not bool(x.isfinite().all()):
            return f"draws for {self.text} hold nan or inf"
        low, high = float(x.min()), float(x.max())
        if low < self.low or high > self.high:
            return f"draws for {self.text} lie in [{low:g}, {high:g}]"
        if self.cdf is None and not bool((x == x.floor()).all()):
            what = "0 or 1" if self.high == 1 else "whole"
            return f"draws for {self.text} are not all {what}"
        count = x.numel()
        if count < FEWEST or self._rare(count):
            return ""
        error = self.deviation / math.sqrt(count)
        off = abs(float(x.mean()) - self.mean)
        if off > SIGMAS * error:
            return (
                f"the mean of {count} draws for {self.text} is {float(x.mean()):.6g}, want "
                f"{self.mean:.6g}: {off / error if error else math.inf:.3g} standard errors off"
            )
        if self.cdf is None or count < 4096:
            return ""
        found = compare_distribution(x.numpy(), self.cdf)
        return "" if found.ok else found.report(f"draws for {self.text}").replace("\n", ":")

    def _rare(self, count: int) -> bool:
        """Whether the normal approximation of the mean of zeros and ones is not good enough."""
        if self.cdf is not None or self.high != 1:
            return False
        return 0 < count * min(self.mean, 1 - self.mean) < 25


def bernoulli(p: float) -> Law:
    return Law(f"Bernoulli({p:g})", 0, 1, p, math.sqrt(p * (1 - p)))


def chances(p: torch.Tensor) -> Law:
    """Zeros and ones, each with a probability of its own."""
    wide = to_host(p).double()
    deviation = math.sqrt(float((wide * (1 - wide)).mean()))
    return Law("Bernoulli(of each)", 0, 1, float(wide.mean()), deviation, alike=False)


def integers(low: int, high: int) -> Law:
    """Whole numbers from ``low`` to below ``high``, equally often."""
    width = high - low
    deviation = math.sqrt((width * width - 1) / 12)
    return Law(f"integers of [{low}, {high})", low, high - 1, (low + high - 1) / 2, deviation)


def categories(weights: torch.Tensor) -> Law:
    """Places of weights, as often as these say."""
    p = to_host(weights).double()
    p = p / p.sum()
    at = torch.arange(len(p), dtype=torch.float64)
    mean = float((p * at).sum())
    deviation = math.sqrt(max(float((p * at.square()).sum()) - mean * mean, 0.0))
    return Law(f"{len(p)} categories", 0, len(p) - 1, mean, deviation)


def uniform(low: float, high: float) -> Law:
    width = high - low

    def cdf(x: Any) -> Any:
        return np.clip((x - low) / width, 0, 1) if width else (x >= low).astype(float)

    return Law(f"Uniform({low:g}, {high:g})", low, high, (low + high) / 2, width / 12**0.5, cdf)


def normal(mean: float, deviation: float) -> Law:
    error = np.vectorize(math.erf, otypes=[float])

    def cdf(x: Any) -> Any:
        if not deviation:
            return (x >= mean).astype(float)
        return 0.5 * (1 + error((x - mean) / (deviation * math.sqrt(2))))

    return Law(f"Normal({mean:g}, {deviation:g})", -math.inf, math.inf, mean, deviation, cdf)


def exponential(rate: float) -> Law:
    def cdf(x: Any) -> Any:
        return 1 - np.exp(-rate * np.maximum(x, 0))

    return Law(f"Exponential({rate:g})", 0, math.inf, 1 / rate, 1 / rate, cdf)


def law_of(name: str, bound: Mapping[str, Any]) -> Law | None:
    """The distribution of a call's draws; None where it is not known here.

    Nor is it where a parameter is nan or inf.

    :param name: the overload's base name, ``normal`` of ``aten.normal_.default``.
    :param bound: its arguments by name, with defaults.
    """
    law = _law_of(name, bound)
    if law is None or not (math.isfinite(law.mean) and math.isfinite(law.deviation)):
        return None
    return law


def _law_of(name: str, bound: Mapping[str, Any]) -> Law | None:
    if name in ("rand", "rand_like"):
        return uniform(0, 1)
    if name in ("randn", "randn_like"):
        return normal(0, 1)
    if name == "native_dropout" and bound.get("train") is not False:
        return bernoulli(1 - float(bound["p"]))
    if name == "bernoulli" and isinstance(bound.get("p"), (int, float)):
        return bernoulli(float(bound["p"]))
    if name == "bernoulli" and bound.get("p") is None and isinstance(bound["self"], torch.Tensor):
        return chances(bound["self"])
    if name == "randint":
        return integers(int(bound.get("low", 0)), int(bound["high"]))
    if name == "random" and bound.get("to") is not None:
        return integers(int(bound.get("from", 0)), int(bound["to"]))
    if name == "multinomial" and bound["self"].dim() == 1 and bound["replacement"]:
        return categories(bound["self"])
    if name == "uniform":
        return uniform(float(bound["from"]), float(bound["to"]))
    if name == "normal" and all(isinstance(bound.get(x), (int, float)) for x in ("mean", "std")):
        return normal(float(bound["mean"]), float(bound["std"]))
    if name == "exponential" and math.isfinite(float(bound["lambd"])):
        return exponential(float(bound["lambd"]))
    return None


def permutation_problem(values: torch.Tensor) -> str:
    """Whether numbers are 0 to n - 1, each once."""
    found = to_host(values).long().sort().values
    if torch.equal(found, torch.arange(len(found))):
        return ""
    return f"{len(found)} numbers of a permutation are not those from 0, each once"


def dropout_problem(
    source: torch.Tensor, p: float, output: torch.Tensor, mask: torch.Tensor
) -> str:
    """Whether an output is the input, scaled, where the mask is set, and 0 elsewhere.

    An input of nan or inf says nothing: 0 x inf is nan, where a kernel multiplies by the mask.
    """
    given, out, kept = to_host(source).double(), to_host(output).double(), to_host(mask).bool()
    if out.shape != given.shape or kept.shape != given.shape:
        return f"output {list(out.shape)} and mask {list(kept.shape)} of input {list(given.shape)}"
    want = torch.where(kept, given / (1 - p) if p < 1 else torch.zeros_like(given), 0.0)
    known = given.isfinite() & want.isfinite()
    off = (
        known
        & out.isfinite()
        & ((out - want).abs() > 4 * torch.finfo(output.dtype).eps * want.abs())
    )
    off |= known & ~out.isfinite() & (want.abs() < torch.finfo(output.dtype).max / 2)
    count = int(off.sum())
    if not count:
        return ""
    return f"{count} of {out.numel()} elements are not the input / (1 - p) where the mask is set"
