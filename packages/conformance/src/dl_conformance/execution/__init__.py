"""Execution of cases: inputs, the call of a vendor's operator, and comparison of its results."""

from __future__ import annotations

from .call import Call
from .inputs import CaseInputs
from .judge import judge
from .run import run

__all__ = ["Call", "CaseInputs", "judge", "run"]
