"""Trial import of all plugins in a child process, to find those that hang or crash.

The child notes the name of each plugin before it runs its code, so that the last note identifies
the culprit. The trial is repeated without the culprit, until a child exits normally.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from functools import partial

from diopi_proto.text import printable
from diopi_proto.worker import Failure, Worker, WorkerError, note
from dl_core.import_path import TrustedPath

_ENDLESS = 1e6
_STARTING = 60.0
"""Seconds for the start of the interpreter and of dl-core, which do not count for plugins."""


def troublemakers(disable: Sequence[str], seconds: float) -> Mapping[str, str]:
    """Return the plugins that hang or crash, each with a sentence that describes how.

    :param disable: names of plugins that are ignored.
    :param seconds: deadline of one call into a plugin.
    """
    found: dict[str, str] = {}
    while True:
        result = _try([*disable, *found], seconds)
        if result is None or result[0] in found:
            return found
        found[result[0]] = result[1]


def _try(disable: Sequence[str], seconds: float) -> tuple[str, str] | None:
    """Run one child; return the name of the culprit and its behavior, or None."""
    with TrustedPath() as trusted:
        path = list(trusted)
    build = partial(partial, load, [*disable])
    try:
        with Worker(build, path=path, start_seconds=_STARTING, json=True) as worker:
            worker.call(None, seconds, renews=True)
    except WorkerError as error:
        return (printable(error.note), _describe(error, seconds)) if error.note else None
    except OSError:
        # Plugins are imported in this process anyway, with a deadline.
        pass
    return None


def _describe(error: WorkerError, seconds: float) -> str:
    if error.failure in (Failure.TIMED_OUT, Failure.CLOSED):
        return f"it did not end within {seconds:g} seconds"
    if error.signal and error.signal != signal.SIGKILL:
        return f"it crashes: {signal.strsignal(error.signal) or f'signal {error.signal}'}"
    if error.signal or error.status is not None:
        return f"it ends the process, with status {error.status or -error.signal}"
    return f"it cannot be tried: {printable(str(error))}"


def load(disable: Sequence[str], _: None) -> None:
    """Run the plugin code of :func:`dl_core.startup.prepare`, and note each plugin before."""
    from dl_core.manager import PluginManager

    # The parent enforces the deadline.
    manager = PluginManager(disable, _ENDLESS, before=note)
    manager.load()
    for record, descriptor in manager.vendors():
        manager.present(record, descriptor)
