"""Trial of all plugins in a child process: which of them hang or crash when they are imported.

The child notes the name of each plugin before it runs code of it, so that the last note is the
culprit. The trial is repeated without it, until a child ends well.
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
"""Seconds for the interpreter and dl-core to start, which are not the plugins'."""


def troublemakers(disable: Sequence[str], seconds: float) -> Mapping[str, str]:
    """Return the plugins that hang or crash, each with a sentence that says how.

    :param disable: names of plugins that are left out.
    :param seconds: deadline of one call into a plugin.
    """
    found: dict[str, str] = {}
    while True:
        result = _try([*disable, *found], seconds)
        if result is None or result[0] in found:
            return found
        found[result[0]] = result[1]


def _try(disable: Sequence[str], seconds: float) -> tuple[str, str] | None:
    """One child; the name of the culprit and what it did, or None if there is none to name."""
    with TrustedPath() as trusted:
        path = list(trusted)
    build = partial(partial, load, [*disable])
    try:
        with Worker(build, path=path, start_seconds=_STARTING, json=True) as worker:
            worker.call(None, seconds, renews=True)
    except WorkerError as error:
        return (printable(error.note), _describe(error, seconds)) if error.note else None
    except OSError:
        # Plugins are imported here all the same, with a deadline.
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
    """Run what :func:`dl_core.startup.prepare` runs of plugins, and note each before."""
    from dl_core.manager import PluginManager

    # The deadline is the parent's.
    manager = PluginManager(disable, _ENDLESS, before=note)
    manager.load()
    for record, descriptor in manager.vendors():
        manager.present(record, descriptor)
