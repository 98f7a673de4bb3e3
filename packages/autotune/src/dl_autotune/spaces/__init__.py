"""Search spaces: where configurations come from and which of them are valid."""

from __future__ import annotations

from .constraint import Constraint
from .parameter import Config, Parameter, Value
from .space import SearchSpace

__all__ = ["Config", "Constraint", "Parameter", "SearchSpace", "Value"]
