"""Trial of all plugins in a child process: which of them hang or crash when they are imported.

The child names each plugin before it runs code of it, so that the last name is the culprit's. The
trial is repeated without it, until a child ends well.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from diopi_proto.text import printable
from dl_core.import_path import TrustedPath

_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from dl_core.plugin_trial import child; child()"
)
_END = b"\0end"
_LONGEST_NAME = 1 << 16
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
        path = json.dumps(trusted)
    reader, writer = os.pipe()
    command = [sys.executable, "-I", "-c", _CODE, path, json.dumps([*disable]), str(writer)]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(writer,),
            start_new_session=True,
        )
    except OSError:
        # Plugins are imported here all the same, with a deadline.
        os.close(reader)
        return None
    finally:
        os.close(writer)
    try:
        name, ended = _listen(reader, seconds)
    finally:
        os.close(reader)
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
    if name is None:
        return None
    if not ended:
        return name, f"it did not end within {seconds:g} seconds"
    if status < 0 and status != -signal.SIGKILL:
        return name, f"it crashes: {signal.strsignal(-status) or f'signal {-status}'}"
    return name, f"it ends the process, with status {status}"


def _listen(reader: int, seconds: float) -> tuple[str | None, bool]:
    """The plugin whose code ran last, None after a whole trial; and whether the child ended."""
    content = b""
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    deadline = time.monotonic() + _STARTING + seconds
    while (left := deadline - time.monotonic()) > 0:
        if not poll.poll(left * 1000):
            continue
        data = os.read(reader, 1 << 12)
        if not data:
            return _last(content), True
        content = (content + data)[-_LONGEST_NAME:]
        if content.endswith(_END + b"\n"):
            return None, True
        # A name: the next call has begun.
        deadline = time.monotonic() + seconds
    return _last(content), False


def _last(content: bytes) -> str | None:
    """The last name that was written as a whole."""
    lines = content.split(b"\n")[:-1]
    return printable(lines[-1].decode(errors="replace")) if lines else None


def child() -> None:
    """Run what :func:`dl_core.startup.prepare` runs of plugins, and name each before."""
    disable, writer = json.loads(sys.argv[2]), int(sys.argv[3])
    from dl_core.manager import PluginManager

    def named(name: str) -> None:
        os.write(writer, name.encode(errors="replace") + b"\n")

    # The deadline is the parent's.
    manager = PluginManager(disable, _ENDLESS, before=named)
    manager.load()
    for record, descriptor in manager.vendors():
        manager.present(record, descriptor)
    os.write(writer, _END + b"\n")
    # Threads and exit functions of plugins do not delay the end.
    os._exit(0)
