"""Every module in torch's databases, on dl compared with the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .case import Case, parameters
from .modules import module_cases

# Torch emits many deprecation warnings.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.sampled]


@parameters(module_cases())
def test_module(case: Case, check_case: Callable[[Case], None]) -> None:
    check_case(case)
