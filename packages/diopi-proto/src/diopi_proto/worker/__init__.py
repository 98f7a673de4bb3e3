"""Child processes whose crash, hang or exit is an outcome for their parent. Imports no torch.

:class:`Worker` calls a function in a child again and again, :func:`run_command` runs a program.
Both are below a guard (:mod:`.guard`), so that nothing that they start survives them, or their
parent. A worker's own code reports what it is doing by :func:`note`, which survives its death.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .command import run_command
    from .limits import Limits
    from .notes import note
    from .outcome import Failure, WorkerError, signal_name
    from .processes import below
    from .system import end_with_parent, kill_group
    from .worker import Handler, Worker

_LAZY = {
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
    # Some users need one function only, at a start that has to be quick.
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module, __name__), name)
