"""Distribution of ``randperm``."""

from __future__ import annotations

import math

import torch

from dl_optools.diagnosis.distributions import Distribution

Tensor = torch.Tensor


class Permutation:
    """Random order of 0 to ``count - 1``; see :class:`~.distributions.Distribution`."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.text = f"a permutation of {count} numbers"
        self.is_defined = True
        self.varies = count > 1

    def first(self, rows: int) -> Distribution:
        return self

    def outside(self, values: Tensor) -> str:
        if torch.equal(values.long().sort().values, torch.arange(self.count)):
            return ""
        return f"the {values.numel()} results are not a permutation of 0 to {self.count - 1}"

    def uniforms(self, values: Tensor, noise: Tensor) -> Tensor:
        return (values.double() + noise) / max(self.count, 1)

    def cells(self, values: Tensor) -> Tensor:
        return torch.zeros(values.shape, dtype=torch.float64)

    def entropy(self, shape: torch.Size) -> Tensor:
        whole = math.lgamma(self.count + 1) / math.log(2)
        return torch.full(shape, whole / max(self.count, 1), dtype=torch.float64)
