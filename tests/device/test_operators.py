"""Every operator of torch's databases, on dl against the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .case import Case, parameters
from .operators import operator_cases

# Torch warns of much that is to be replaced.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.sampled]


@parameters(operator_cases())
def test_operator(case: Case, check_case: Callable[[Case], None]) -> None:
    check_case(case)
