"""Calls of functions in a kernel's file, whose exceptions become errors that name the function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import KernelError, TuningError
from ..kernel import Launch, Shape, TunableKernel
from ..spaces import Config

_SHOWN = 80


def called(what: str, function: Callable[..., Any], *given: Any) -> Any:
    """Return the result of a function of the kernel's file.

    :param what: description of the function, for messages.
    :raises KernelError: it raised an exception or tried to exit.
    """
    try:
        return function(*given)
    except TuningError:
        raise
    except (Exception, SystemExit) as error:
        told = repr(error)
        if isinstance(error, ValueError) and "read-only" in str(error):
            told = f"it changes its arguments, which the kernel gets too: change a copy ({error})"
        raise KernelError(f"[kernel] {what} failed: {told}") from error


def launch_of(kernel: TunableKernel, config: Config, shape: Shape) -> Launch:
    """Return the launch of a configuration.

    :raises KernelError: the kernel's function fails, or does not return a Launch.
    """
    found = called(f"launch of {dict(config)}", kernel.launch, config, shape)
    if not isinstance(found, Launch):
        raise KernelError(
            f"[kernel] launch of {dict(config)} gives {shortly(found)}: it should give a Launch"
        )
    return found


def shortly(value: object) -> str:
    """Format a value for a message, truncated to a line."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
