"""What becomes of a tool that fails while it looks at a program: the program goes on."""

from __future__ import annotations

import warnings


class ToolFailureWarning(RuntimeWarning):
    """A tool failed at a call, which it leaves out; the program has its result."""


def say_failure(tool: str, operator: str, error: Exception) -> None:
    """Warn of it, once for each operator and reason; as an error where warnings are errors."""
    text = str(error).partition("\n")[0]
    warnings.warn(
        f"[{tool}] it failed at {operator}: {type(error).__name__}: {text[:300]}; the program goes "
        "on, and the call is not looked at",
        ToolFailureWarning,
        stacklevel=2,
    )
