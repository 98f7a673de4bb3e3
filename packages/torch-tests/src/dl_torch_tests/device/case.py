"""One device-generic test: an entry of torch's databases, a dtype, and a kind of check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import torch

from ..opinfo.known_failures import Key
from ..opinfo.sweep import Report

SAMPLES = 3
"""Samples of an entry in one test; the sweep of OpInfo runs all."""

Check = Callable[[Any, torch.dtype, str], Report]


@dataclass(frozen=True)
class Case:
    """A test, and its key in the list of known failures."""

    name: str
    kind: str
    dtype: torch.dtype
    run: Callable[[str], Report]
    """``run(device)``."""

    @property
    def key(self) -> Key:
        return self.name, self.kind, str(self.dtype).removeprefix("torch.")

    @classmethod
    def of(cls, name: str, kind: str, dtype: torch.dtype, check: Check, entry: Any) -> Case:
        return cls(name, kind, dtype, partial(check, entry, dtype))


def parameters(cases: Iterable[Case]) -> pytest.MarkDecorator:
    """Return the mark that makes a test of each case."""
    found = [pytest.param(case, id="-".join(reversed(case.key))) for case in cases]
    return pytest.mark.parametrize("case", found)


def observe(case: Case, device: str) -> Report:
    """Run the case; an exception is a problem like any other."""
    try:
        return case.run(device)
    except Exception as error:  # noqa: BLE001 - whatever ends a case is what it has found
        said = str(error).splitlines()[0] if str(error) else ""
        return Report(case.name, problems=[f"the test ends with {type(error).__name__}: {said}"])
