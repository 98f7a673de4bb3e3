"""A model family: a small model of its kind, a batch, and a loss.

A family is data. All random numbers are drawn on the CPU from a fixed seed before the step, so that
dl and the CPU compute the same function of the same numbers; dropout and similar layers are off.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from ..one_step import Batch, Forward, Step

SEED = 0


@dataclass(frozen=True)
class Family:
    """One row of the table.

    :ivar name: common name of the family.
    :ivar make_model: creates a model with float32 weights on the CPU, after the seed is set.
    :ivar make_batch: creates the batch of one step, after the model.
    :ivar forward: ``(model, batch) -> (loss, output)``.
    :ivar rate: AdamW's learning rate.
    """

    name: str
    make_model: Callable[[], nn.Module]
    make_batch: Callable[[], Batch]
    forward: Forward
    rate: float = 1e-3

    def __str__(self) -> str:
        return re.sub(r"\W+", "-", self.name.lower())

    @property
    def key(self) -> tuple[str, str, str]:
        """Key of the family in the results of a run: its name, the kind of test, and the dtype."""
        return self.name, "train", "float32"

    def step(self) -> Step:
        """Return the family's training step, with the same numbers at every call."""
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(SEED)
            model, batch = self.make_model(), self.make_batch()
        # A weight is used at most once per row and position, and the largest tensor bounds their
        # number.
        terms = max(value.numel() for value in batch.values())
        return Step(model, batch, self.forward, terms, self._optimizer)

    def _optimizer(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        return torch.optim.AdamW(parameters, lr=self.rate)
