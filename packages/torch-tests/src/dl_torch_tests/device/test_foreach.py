"""Every operator on lists of tensors in torch's databases, on dl compared with the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .case import Case, parameters
from .foreach import foreach_cases

# Torch emits many deprecation warnings.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.sampled]


@parameters(foreach_cases())
def test_foreach(case: Case, check_case: Callable[[Case], None]) -> None:
    check_case(case)
