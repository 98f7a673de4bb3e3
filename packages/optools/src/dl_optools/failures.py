"""Handling of failures of tools and of functions that they call: the program continues."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import ParamSpec

_P = ParamSpec("_P")


class ToolFailureWarning(RuntimeWarning):
    """A tool failed at a call, which it skips; the program gets its result."""


def warn_failure(tool: str, operator: str, error: Exception) -> None:
    """Warn once for each operator and reason; raise where warnings are errors."""
    text = str(error).partition("\n")[0]
    warnings.warn(
        f"[{tool}] failed at {operator}: {type(error).__name__}: {text[:300]}; the program "
        "continues, and the call is not checked",
        ToolFailureWarning,
        stacklevel=2,
    )


def notify(
    option: str, listener: Callable[_P, object] | None, *args: _P.args, **kwargs: _P.kwargs
) -> str:
    """Call a listener that the program gave; an error in it does not stop the tool.

    :param option: name of the tool's option.
    :returns: what the listener raised, for the tool's report; empty if it returned.
    """
    if listener is not None:
        try:
            listener(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - an error of the program; the tool goes on
            return f"{option} raised {type(error).__name__}: {error}"
    return ""
