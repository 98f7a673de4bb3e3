"""Programs that say ``cuda`` run on ``dl``, unchanged, while this is on. It never is unasked.

``DL_MOCK_CUDA=1`` and ``dl run --mock-cuda`` turn it on for a process, :func:`mocked` for a while.
Names of torch are replaced as :mod:`.table` lists them, and put back when it ends.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from dl_core.torch_backend.mock_cuda import replacing

__all__ = ["is_on", "mocked", "start", "stop"]

_lock = threading.RLock()
_on: replacing.Replacements | None = None
_users = 0


def is_on() -> bool:
    """Whether ``cuda`` means ``dl`` now."""
    return _on is not None


def start() -> None:
    """Let ``cuda`` mean ``dl``, in all threads, until :func:`stop`. Calls nest.

    :raises RuntimeError: a name of the table is not in this torch; nothing is replaced then.
    """
    global _on, _users
    with _lock:
        if _on is None:
            from dl_core.torch_backend.mock_cuda.table import replacements

            _on = replacements()
            _on.apply()
        _users += 1


def stop() -> None:
    """Undo one :func:`start`; after the last, every attribute of torch is what it was.

    :raises RuntimeError: it is not on.
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


def _forget_names_of_dynamo() -> None:
    """Torch's compiler lists torch's functions when it first compiles: ours, if that was here."""
    rules = sys.modules.get("torch._dynamo.trace_rules")
    if rules is not None:
        rules.clear_lru_cache()


@contextmanager
def mocked() -> Iterator[None]:
    """Context manager and decorator: ``cuda`` means ``dl`` for a while, in all threads.

    >>> with mocked():  # doctest: +SKIP
    ...     model = model.cuda()  # is on dl:0 now
    """
    start()
    try:
        yield
    finally:
        stop()
