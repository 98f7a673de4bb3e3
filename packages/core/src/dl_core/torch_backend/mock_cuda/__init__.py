"""CUDA mocking: programs written for ``cuda`` run on ``dl``, unchanged. Disabled by default.

``DL_MOCK_CUDA=1`` and ``dl run --mock-cuda`` enable it for a process, :func:`mocked` for a block.
Attributes of torch are replaced as listed in :mod:`.table`, and restored afterwards.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from dl_core import config
from dl_core.environment import environment
from dl_core.torch_backend.mock_cuda import names, replacing

__all__ = ["is_on", "mocked", "start", "start_unless_disabled", "stop"]

_lock = threading.RLock()
_on: replacing.Replacements | None = None
_users = 0


def is_on() -> bool:
    """Return True if ``cuda`` means ``dl`` now."""
    return _on is not None


def start() -> None:
    """Make ``cuda`` mean ``dl``, in all threads, until :func:`stop`. Calls can be nested.

    :raises RuntimeError: this torch does not have a name of the table; then nothing is replaced.
    """
    global _on, _users
    with _lock:
        if _on is None:
            from dl_core.torch_backend.mock_cuda.table import replacements

            _on = replacements()
            _on.apply()
        _users += 1


def stop() -> None:
    """Undo one :func:`start`; the last one restores every attribute of torch.

    :raises RuntimeError: CUDA is not mocked.
    """
    global _on, _users
    with _lock:
        if _on is None:
            raise RuntimeError("[mock_cuda.stop] CUDA is not mocked; start() or mocked() does that")
        _users -= 1
        if _users == 0:
            _on.undo()
            _on = None
            _forget_names_of_dynamo()


def start_unless_disabled(*spellings: str) -> bool:
    """Mock CUDA for the rest of the process unless a variable disables it; return :func:`is_on`.

    For modules that scripts import to get CUDA mocking, which the user may still disable by
    ``DL_MOCK_CUDA`` or its alias.

    :param spellings: further names of device types that mean ``dl`` from now on.
    :raises RuntimeError: as :func:`start`.
    """
    if config.read(environment()).mock_cuda is False:
        return is_on()
    names.add_spellings(spellings)
    if not is_on():
        start()
    return True


def _forget_names_of_dynamo() -> None:
    """Clear the list of torch functions that Dynamo caches, which may contain our replacements."""
    rules = sys.modules.get("torch._dynamo.trace_rules")
    if rules is not None:
        rules.clear_lru_cache()


@contextmanager
def mocked() -> Iterator[None]:
    """Context manager and decorator that makes ``cuda`` mean ``dl``, in all threads.

    >>> with mocked():  # doctest: +SKIP
    ...     model = model.cuda()  # now on dl:0
    """
    start()
    try:
        yield
    finally:
        stop()
