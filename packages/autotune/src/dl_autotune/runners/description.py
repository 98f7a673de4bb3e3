"""Calls of functions in a kernel's file: whatever they raise is an error that names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import KernelError, TuningError
from ..kernel import Launch, Shape, TunableKernel
from ..spaces import Config

_SHOWN = 80


def called(what: str, function: Callable[..., Any], *given: Any) -> Any:
    """Return the result of a function of the kernel's file.

    :param what: that it is, for messages.
    :raises KernelError: it raised, or wanted to end the process.
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
    """The launch of a configuration.

    :raises KernelError: the kernel's description fails, or gives something else.
    """
    found = called(f"launch of {dict(config)}", kernel.launch, config, shape)
    if not isinstance(found, Launch):
        raise KernelError(
            f"[kernel] launch of {dict(config)} gives {shortly(found)}: it should give a Launch"
        )
    return found


def shortly(value: object) -> str:
    """A value in a message, not longer than a line."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
