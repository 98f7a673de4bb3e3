"""Every operator in torch's databases, on dl compared with the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .case import Case, parameters
from .operators import operator_cases

# Torch emits many deprecation warnings.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.sampled]


@parameters(operator_cases())
def test_operator(case: Case, check_case: Callable[[Case], None]) -> None:
    check_case(case)
