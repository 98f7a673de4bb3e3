"""State of the process that plugin code must not change."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Mapping
from importlib import import_module
from types import TracebackType
from typing import Any

_STREAMS = ("stdin", "stdout", "stderr")
"""Attributes of :mod:`sys`; the index of each is its file descriptor."""
_NUMBERS = tuple(int(x) for x in signal.Signals if x not in (signal.SIGKILL, signal.SIGSTOP))
_handler_of = getattr(signal.getsignal, "__wrapped__", signal.getsignal)
"""Skips the conversion to enumerations, which takes most of the time."""
_MODULES = ("builtins", "json", "json.decoder", "json.encoder", "os", "subprocess")
"""Modules whose functions the ``dl`` command relies on."""


class ProcessState:
    """Context manager that undoes changes of the current folder, the streams and signal handlers.

    :param strict: also undo replaced functions of the standard library.
    :ivar changes: after the context, what was changed: verb phrases about the plugin.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self.changes: list[str] = []

    def __enter__(self) -> ProcessState:
        self._folder = _current_folder()
        self._streams = {name: getattr(sys, name) for name in _STREAMS}
        self._settings = {name: _settings_of(value) for name, value in self._streams.items()}
        self._copies = [_copy_of(descriptor) for descriptor in range(len(_STREAMS))]
        self._handlers = _signal_handlers()
        self._functions: dict[str, dict[str, Any]] = {}
        if self._strict:
            self._functions = {name: dict(vars(import_module(name))) for name in _MODULES}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Restore these first, because the code below calls them.
        self._restore_functions()
        self._restore_streams()
        if self._folder is not None and _current_folder() != self._folder:
            self.changes.append("changes the current folder")
            with contextlib.suppress(OSError):
                os.chdir(self._folder)
        for number, handler in self._handlers.items():
            if _handler_of(number) is not handler:
                self.changes.append(f"sets a handler of {signal.Signals(number).name}")
                signal.signal(number, handler)

    def _restore_functions(self) -> None:
        for name, functions in self._functions.items():
            module = import_module(name)
            for key, function in functions.items():
                if callable(function) and vars(module).get(key) is not function:
                    self.changes.append(f"replaces {name}.{key}")
                    setattr(module, key, function)

    def _restore_streams(self) -> None:
        for descriptor, name in enumerate(_STREAMS):
            copy, stream = self._copies[descriptor], self._streams[name]
            lost = copy is not None and not _is_open(descriptor)
            closed = getattr(stream, "closed", False)
            if lost or closed:
                self.changes.append(f"closes sys.{name}")
            elif getattr(sys, name) is not stream:
                self.changes.append(f"replaces sys.{name}")
            if lost and copy is not None:
                _reopen(descriptor, copy)
            if closed:
                stream = open(descriptor, **self._settings[name], closefd=False)  # noqa: SIM115
                setattr(sys, f"__{name}__", stream)
            setattr(sys, name, stream)
            if copy is not None:
                with contextlib.suppress(OSError):
                    os.close(copy)


def _current_folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - the folder may be gone
    except OSError:
        return None


def _settings_of(stream: Any) -> Mapping[str, Any]:
    """Return the arguments with which :func:`open` creates a stream like this one."""
    names = ("mode", "encoding", "errors")
    found = {name: getattr(stream, name, None) for name in names}
    readable = found["mode"] if found["mode"] in ("r", "w") else "w"
    return {**found, "mode": readable}


def _signal_handlers() -> dict[int, Any]:
    """Return the handlers that Python code has set or can set; empty except on the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    found = ((number, _handler_of(number)) for number in _NUMBERS)
    # Handlers that native code has set cannot be restored.
    return {number: handler for number, handler in found if handler is not None}


def _copy_of(descriptor: int) -> int | None:
    try:
        return os.dup(descriptor)
    except OSError:
        return None


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _reopen(descriptor: int, copy: int) -> None:
    """Restore a standard stream, so that no other file gets its descriptor."""
    try:
        os.dup2(copy, descriptor)
    except OSError:
        nothing = os.open(os.devnull, os.O_RDWR)
        if nothing != descriptor:
            os.dup2(nothing, descriptor)
            os.close(nothing)
