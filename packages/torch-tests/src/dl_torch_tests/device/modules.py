"""Tests of every module in torch's database."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch.testing._internal.common_modules import module_db

from .case import Case, Check
from .kinds import NO_REFERENCE
from .module_results import check_backward, check_errors, check_forward, check_layouts
from .module_state import (
    check_copies,
    check_factory,
    check_hooks,
    check_state_dict,
    check_to,
)

DTYPES = (torch.float32, torch.float64)

CHECKS: dict[str, Check] = {
    "train": partial(check_forward, training=True),
    "eval": partial(check_forward, training=False),
    "train-backward": partial(check_backward, training=True),
    "eval-backward": partial(check_backward, training=False),
    "module-layouts": check_layouts,
    "module-to": check_to,
    "state-dict": check_state_dict,
    "module-copy": check_copies,
    "factory": check_factory,
    "hooks": check_hooks,
    "module-errors": check_errors,
}


def has(info: Any, kind: str) -> bool:
    if (info.name, kind) in NO_REFERENCE:
        return False
    if kind == "module-errors":
        return info.module_error_inputs_func is not None
    if kind == "factory":
        return "device" in inspect.signature(info.module_cls.__init__).parameters
    return True


def module_cases() -> Iterator[Case]:
    """Yield every module, in every dtype, with every applicable kind of check."""
    for kind, check in CHECKS.items():
        for info in module_db:
            for dtype in DTYPES:
                if dtype in info.dtypes and has(info, kind):
                    yield Case.of(info.name, kind, dtype, check, info)
