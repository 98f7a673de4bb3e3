"""One call of an operator on its way through the tools."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dl_optools.names import Level

if TYPE_CHECKING:
    from dl_optools.tool import Tool

_numbers = itertools.count(1)


class _Thread(threading.local):
    """What tools do in this thread."""

    inside: bool = False
    """A tool's own code runs: what it computes is nobody's operator."""
    api_call: OpCall | None = None
    """The call at the level of the Python interface that runs now."""


THREAD = _Thread()


@contextlib.contextmanager
def own_work() -> Iterator[None]:
    """What runs inside is a tool's, not the program's: no tool sees it."""
    outer = THREAD.inside
    THREAD.inside = True
    try:
        yield
    finally:
        THREAD.inside = outer


class OpCall:
    """A call that tools see. Each hands it on to the next by :meth:`proceed`.

    :ivar name: of the operator; see :mod:`.names`.
    :ivar function: what is called: a function, or an overload of the dispatcher.
    :ivar number: counts the calls of the process that tools saw, from 1.
    :ivar parent: at the dispatcher's level the Python function that it belongs to, in backward too;
        None where it is not known.
    :ivar backward: autograd's backward runs it.
    :ivar module: path of the module that called it; empty where nobody asked (see
        :class:`.attribution.Attribution`).
    """

    __slots__ = (
        "_next",
        "_tools",
        "args",
        "backward",
        "function",
        "kwargs",
        "level",
        "module",
        "name",
        "number",
        "parent",
    )

    def __init__(
        self,
        name: str,
        level: Level,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        tools: Sequence[Tool],
        parent: OpCall | None = None,
        backward: bool = False,
    ) -> None:
        self.name = name
        self.level = level
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.number = next(_numbers)
        self.parent = parent
        self.backward = backward
        self.module = "" if parent is None else parent.module
        self._tools = tools
        self._next = 0

    def run(self) -> Any:
        """Send the call through its tools and return what the program gets."""
        thread = THREAD
        thread.inside = True
        try:
            return self._step()
        finally:
            thread.inside = False

    def proceed(self) -> Any:
        """Run the rest: the tools behind this one, then the operator.

        Called once by each tool that does not answer the call itself. Exceptions pass through.
        """
        return self._step()

    def _step(self) -> Any:
        at = self._next
        if at < len(self._tools):
            self._next = at + 1
            return self._tools[at].handle(self)
        thread = THREAD
        thread.inside = False
        outer = thread.api_call
        if self.level is Level.API:
            thread.api_call = self
        try:
            return self.function(*self.args, **self.kwargs)
        finally:
            thread.api_call = outer
            thread.inside = True
