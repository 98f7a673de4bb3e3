"""Child processes whose crash, hang or exit is an outcome for their parent. Imports no torch.

:class:`Worker` calls a function in a child again and again, :func:`run_command` runs a program.
Both are below a guard (:mod:`.guard`), so that nothing that they start survives them, or their
parent. A worker's own code reports what it is doing by :func:`note`, which survives its death.
"""

from __future__ import annotations

from .command import CommandRun, run_command
from .guard import Ending
from .limits import Limits
from .notes import note
from .outcome import Failure, WorkerError, signal_name
from .processes import Process, below
from .system import end_with_parent, kill_group
from .tail import Tail
from .worker import Handler, Worker

__all__ = [
    "CommandRun",
    "Ending",
    "Failure",
    "Handler",
    "Limits",
    "Process",
    "Tail",
    "Worker",
    "WorkerError",
    "below",
    "end_with_parent",
    "kill_group",
    "note",
    "run_command",
    "signal_name",
]
