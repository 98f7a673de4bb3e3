"""Programs for the ranks that use measured implementation choices."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import torch

from dl_core.torch_backend import tuning

from .data import DEVICE


def _product() -> str:
    """Return the bits of a matrix product whose long sums depend on the implementation's order."""
    generator = torch.Generator().manual_seed(5)
    a, b = (torch.randn(shape, generator=generator) for shape in ((16, 2048), (2048, 16)))
    return (a.to(DEVICE) @ b.to(DEVICE)).cpu().numpy().tobytes().hex()


def learned() -> tuple[str, str, dict[str, str]]:
    """Return identity and key of the product, and its result by choice, the default first."""
    choices = tuning.extension("cpu")
    assert choices is not None
    choices.record()
    _product()
    (record,) = choices.recorded()
    results = {}
    for name in record.choices:
        choices.install({record.key: name})
        results[name] = _product()
    return choices.identity(), str(record.key), results


def joined() -> None:
    """Do nothing: ranks run a program only after the group has been created."""


def used() -> tuple[str, dict[str, int]]:
    result = _product()
    return result, torch.dl.tuning_stats()["cpu"]


def agreed(seconds: float = 30) -> tuple[Any, list[str], str, dict[str, int]]:
    """Return the agreement, its log messages, the product's bits, and the tuning statistics."""
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("dl_core.tuning")
    logger.addHandler(handler)
    try:
        agreement = torch.dl.agree_on_tuning(timedelta(seconds=seconds))
    finally:
        logger.removeHandler(handler)
    return agreement, said, *used()
