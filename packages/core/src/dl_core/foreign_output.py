"""Separation of a command's own output from what plugins print."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

_OUTPUT, _ERRORS = 1, 2


@contextlib.contextmanager
def output_to_errors() -> Iterator[None]:
    """Send what is printed in the context, by Python or native code, to standard error."""
    stdout = sys.stdout
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stdout.flush()
            own = os.dup(_OUTPUT)
            stack.callback(_move, own, _OUTPUT)
            os.dup2(_ERRORS, _OUTPUT)
        with contextlib.suppress(OSError, ValueError, AttributeError):
            # A stream of its own, which plugins may close.
            foreign = stack.enter_context(
                os.fdopen(os.dup(_ERRORS), "w", buffering=1, errors="backslashreplace")
            )
            stack.enter_context(contextlib.redirect_stdout(foreign))
        yield


def _move(descriptor: int, to: int) -> None:
    """Give a file another descriptor; plugins may have closed either."""
    with contextlib.suppress(OSError):
        os.dup2(descriptor, to)
        os.close(descriptor)


def leave_output() -> None:
    """Send what is printed from now on to standard error: the command has printed everything."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        os.dup2(_ERRORS, _OUTPUT)
