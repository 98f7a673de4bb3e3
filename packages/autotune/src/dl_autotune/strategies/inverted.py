"""Inversion of control: a function that calls an evaluator runs in a thread, step by step."""

from __future__ import annotations

import contextlib
import ctypes
import queue
import threading
import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

Question = TypeVar("Question")

_UNWIND_SECONDS = 5.0
"""Timeout for the end of a thread in seconds; it may be in native code."""


class EndedError(BaseException):
    """Raised to end the function; not an :class:`Exception`, so that no handler catches it."""


class Inverted(Generic[Question]):
    """Runner of `function(ask)` that stops at each `ask(question)` until it is resumed.

    Either the caller of :meth:`step` runs or the function does, never both. The thread ends with
    the function, by :meth:`close`, when a step takes too long, or when this object is dropped.

    :param function: function that asks any number of times, and reads the answers from shared
        state.
    :param seconds: timeout of a step.
    """

    def __init__(
        self, function: Callable[[Callable[[Question], None]], None], seconds: float
    ) -> None:
        self._seconds = seconds
        self._go: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._said: queue.SimpleQueue[_Asked[Question] | BaseException | None] = queue.SimpleQueue()
        # The thread must not reference this object, which would never be dropped then.
        self.thread = threading.Thread(
            target=_run, args=(function, self._go, self._said), name="inverted", daemon=True
        )
        self._dropped = weakref.finalize(self, self._go.put, False)
        self.thread.start()

    def step(self) -> Question | None:
        """Return the next question, or None if the function has returned.

        :raises TimeoutError: the function asked nothing within the timeout, and was ended.
        :raises Exception: what the function raised.
        """
        self._go.put(True)
        try:
            said = self._said.get(timeout=self._seconds)
        except BaseException as error:
            self._interrupt()
            if isinstance(error, queue.Empty):
                raise TimeoutError(f"no answer within {self._seconds:g} s") from None
            raise
        if isinstance(said, _Asked):
            return said.question
        self.close()
        if said is not None:
            raise said
        return None

    def close(self) -> None:
        """End the function at its current position, and wait for its end."""
        self._dropped()
        self.thread.join(_UNWIND_SECONDS)

    def _interrupt(self) -> None:
        """Raise an exception in a function that does not reach its next question."""
        # cffi releases the interpreter's lock during calls, and this call needs it.
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(self.thread.ident or 0), ctypes.py_object(EndedError)
        )
        self.close()


class _Asked(Generic[Question]):
    def __init__(self, question: Question) -> None:
        self.question = question


def _run(
    function: Callable[[Callable[[Question], None]], None],
    go: queue.SimpleQueue[bool],
    said: queue.SimpleQueue[_Asked[Question] | BaseException | None],
) -> None:
    def ask(question: Question) -> None:
        said.put(_Asked(question))
        wait()

    def wait() -> None:
        if not go.get():
            # In case the function continues nevertheless.
            go.put(False)
            raise EndedError

    with contextlib.suppress(EndedError):
        end: BaseException | None = None
        try:
            wait()
            function(ask)
        except EndedError:
            pass
        except BaseException as error:  # noqa: BLE001 - it is raised where it was asked
            end = error
        said.put(end)
