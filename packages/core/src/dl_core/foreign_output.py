"""Separation of a command's own output from what plugins print."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

_OUTPUT, _ERRORS = 1, 2


@contextlib.contextmanager
def output_to_errors() -> Iterator[None]:
    """Send what Python or native code prints in the context to standard error."""
    stdout = sys.stdout
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stdout.flush()
            own = os.dup(_OUTPUT)
            stack.callback(_move, own, _OUTPUT)
            os.dup2(_ERRORS, _OUTPUT)
        with contextlib.suppress(OSError, ValueError, AttributeError):
            # A new stream, because plugins may close the original one.
            foreign = stack.enter_context(
                os.fdopen(os.dup(_ERRORS), "w", buffering=1, errors="backslashreplace")
            )
            stack.enter_context(contextlib.redirect_stdout(foreign))
        yield


def _move(descriptor: int, to: int) -> None:
    """Move an open file to another descriptor number; plugins may have closed either of the two."""
    with contextlib.suppress(OSError):
        os.dup2(descriptor, to)
        os.close(descriptor)


def leave_output() -> None:
    """Send everything printed from now on to standard error, because the command has finished."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        os.dup2(_ERRORS, _OUTPUT)
