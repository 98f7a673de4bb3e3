"""Every module of torch's databases, on dl against the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .case import Case, parameters
from .modules import module_cases

# Torch warns of much that is to be replaced.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.sampled]


@parameters(module_cases())
def test_module(case: Case, check_case: Callable[[Case], None]) -> None:
    check_case(case)
