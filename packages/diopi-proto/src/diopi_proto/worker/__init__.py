"""Child processes that may crash, hang or exit without harming their parent. Imports no torch.

:class:`Worker` calls a function in a child repeatedly, :func:`run_command` runs a program. A guard
process (:mod:`.guard`) is the parent of both, so that everything that they start ends with them, or
with their parent. Code in a worker reports what it is doing by :func:`note`, which survives its
process.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .command import CommandRun, run_command
    from .limits import Limits
    from .notes import note
    from .outcome import Failure, WorkerError, signal_name
    from .processes import below
    from .system import end_with_parent, kill_group
    from .worker import Handler, Worker

_LAZY = {
    "CommandRun": ".command",
    "Failure": ".outcome",
    "Handler": ".worker",
    "Limits": ".limits",
    "Worker": ".worker",
    "WorkerError": ".outcome",
    "below": ".processes",
    "end_with_parent": ".system",
    "kill_group": ".system",
    "note": ".notes",
    "run_command": ".command",
    "signal_name": ".outcome",
}

__all__ = [
    "CommandRun",
    "Failure",
    "Handler",
    "Limits",
    "Worker",
    "WorkerError",
    "below",
    "end_with_parent",
    "kill_group",
    "note",
    "run_command",
    "signal_name",
]


def __getattr__(name: str) -> object:
    # Some users need only one function, during a start that must be quick.
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module, __name__), name)
