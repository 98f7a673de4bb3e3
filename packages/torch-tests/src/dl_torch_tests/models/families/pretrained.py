"""Models from transformers, built from configurations alone, without loading or downloading."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
import transformers
from torch import nn

from ..one_step import Batch

# Settings of configurations that make a forward pass random.
CHANCE = re.compile(r"drop|jitter|mask_\w+_prob")
# The usual 0.02 suits about a thousand features. With the few features of the test models, layers
# would hardly change their inputs.
INITIALIZER_RANGE = 0.1


def pretrained(model: str, **settings: Any) -> Callable[[], nn.Module]:
    """Return a function that creates a model from transformers.

    :param model: name of its class.
    :param settings: settings of its configuration; nested configurations are dicts.
    """

    def make() -> nn.Module:
        kind = getattr(transformers, model)
        config = kind.config_class(**settings)
        _settle(config)
        made: nn.Module = kind(config)
        for weight in made.parameters():
            # Routers that start at zero rate all experts equally: devices might choose other ones.
            if weight.ndim > 1 and not weight.any():
                nn.init.normal_(weight, std=INITIALIZER_RANGE)
        return made

    return make


def _settle(config: Any) -> None:
    """Disable everything random, and enlarge the initial weights."""
    for name, value in vars(config).items():
        if isinstance(value, transformers.PretrainedConfig):
            _settle(value)
        elif isinstance(value, float) and CHANCE.search(name):
            setattr(config, name, 0.0)
        elif name in ("initializer_range", "init_std"):
            setattr(config, name, INITIALIZER_RANGE)


def by_its_own_loss(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loss that the model computes from the batch's labels, and its first output."""
    found = model(**batch)
    return found.loss, first_output(found)


def toward_target(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the squared distance of the model's first output from ``target``, and the output."""
    inputs = {name: value for name, value in batch.items() if name != "target"}
    output = first_output(model(**inputs))
    return nn.functional.mse_loss(output, batch["target"].to(output.dtype)), output


def first_output(found: Any) -> torch.Tensor:
    """Return the first output of at least one dimension that is not a loss."""
    for name, value in found.items():
        if isinstance(value, torch.Tensor) and value.ndim and not name.endswith("loss"):
            return value
    raise ValueError(
        f"[first_output] {type(found).__name__} has no tensor with dimensions other than losses"
    )
