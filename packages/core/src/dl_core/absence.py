"""Explanation of torch's errors in a program that asks for ``dl`` where there is no device.

Importing torch is silent, because most programs on a machine without an accelerator never ask.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from types import TracebackType

_REPORTERS = ("IPython", "_pytest")
"""Modules of programs that report errors without the hooks of the interpreter."""


def explain(message: str) -> bool:
    """Print the message after the report of an error that asks for ``dl`` and that nothing catches.

    :returns: False if errors are not reported by the interpreter, so the caller must tell it now.
    """
    if any(name in sys.modules for name in _REPORTERS):
        return False
    report, report_in_thread = sys.excepthook, threading.excepthook

    def explained(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        report(kind, error, trace)
        _print_if_asked(message, error)

    def explained_in_thread(arguments: threading.ExceptHookArgs) -> None:
        error = arguments.exc_value
        report_in_thread(arguments)
        _print_if_asked(message, error)

    sys.excepthook, threading.excepthook = explained, explained_in_thread
    return True


def _print_if_asked(message: str, error: BaseException | None) -> None:
    if sys.stderr is not None and any(map(_asks, _chain(error))):
        from diopi_proto.text import write_error

        write_error(f"{message}\n")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those in whose handling it was raised."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _asks(error: BaseException) -> bool:
    """Return True for torch's errors about the device type, the module and the methods ``dl``."""
    if isinstance(error, AttributeError):
        return "no attribute 'dl'" in str(error)
    return isinstance(error, RuntimeError) and "device string: dl" in str(error)
