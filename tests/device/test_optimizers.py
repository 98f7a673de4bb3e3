"""Every optimizer of torch's databases, on dl against the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .case import Case, parameters
from .optimizers import optimizer_cases

# Torch warns of much that is to be replaced.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.sampled]


@parameters(optimizer_cases())
def test_optimizer(case: Case, check_case: Callable[[Case], None]) -> None:
    check_case(case)
