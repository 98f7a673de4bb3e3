"""Handling of failures inside a tool: warn, and let the program continue."""

from __future__ import annotations

import warnings


class ToolFailureWarning(RuntimeWarning):
    """A tool failed at a call, which it skips; the program gets its result."""


def warn_failure(tool: str, operator: str, error: Exception) -> None:
    """Warn once for each operator and reason; raise where warnings are errors."""
    text = str(error).partition("\n")[0]
    warnings.warn(
        f"[{tool}] it failed at {operator}: {type(error).__name__}: {text[:300]}; the program goes "
        "on, and the call is not checked",
        ToolFailureWarning,
        stacklevel=2,
    )
