"""One call of an operator on its way through the tools."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from dl_optools.failures import warn_failure
from dl_optools.mode_stack import HiddenModes, hide_modes
from dl_optools.names import Level

_numbers = itertools.count(1)

OUR_MODES: list[type] = []
"""Types of modes that let a tool's own work pass without a check of :func:`own_work`."""


class State:
    """State of the tools in one thread.

    :ivar inside: a tool's own code is running, whose operators do not belong to the program.
    :ivar api_call: the current call at the level of the Python interface.
    """

    __slots__ = ("api_call", "inside")

    def __init__(self) -> None:
        self.inside = False
        self.api_call: OpCall | None = None


class _Thread(threading.local):
    """State of the current thread."""

    def __init__(self) -> None:
        self.state = State()

    @property
    def inside(self) -> bool:
        return self.state.inside

    @property
    def api_call(self) -> OpCall | None:
        return self.state.api_call


THREAD = _Thread()


class OwnWork:
    """Context manager of :func:`own_work`."""

    __slots__ = ("_hidden", "_outer")

    def __enter__(self) -> None:
        state = THREAD.state
        self._outer = state.inside
        state.inside = True
        self._hidden = hide_modes(OUR_MODES)

    def __exit__(self, *exception: object) -> None:
        if self._hidden is not None:
            self._hidden.show()
        THREAD.state.inside = self._outer


def own_work() -> OwnWork:
    """Mark the operators inside ``with own_work():`` as a tool's, not the program's.

    No tool sees them, nor does a mode of the program: neither one that counts operators nor
    ``torch.set_default_device``.
    """
    return OwnWork()


class Handler(Protocol):
    """The methods of a :class:`.tool.Tool` that calls reach."""

    observes: ClassVar[bool]

    def wants(self, name: str, function: Callable[..., Any]) -> bool:
        """Return True if calls of an operator reach the tool."""

    def applies(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        """Return True if one call reaches the tool."""

    def handle(self, call: OpCall) -> Any:
        """Process one call, and return the value that the program gets."""


class OpCall:
    """A call that tools see. The first tool handles it; each passes it on by :meth:`proceed`.

    :ivar name: name of the operator; see :mod:`.names`.
    :ivar function: the function that is called, or an overload of the dispatcher.
    :ivar number: counts the calls of the process that tools saw, from 1.
    :ivar parent: at the dispatcher's level the Python function that it belongs to, also in backward
        (there without its arguments, which may be freed); None if unknown.
    :ivar backward: autograd's backward runs it.
    :ivar module: path of the module that called it; empty if it was not requested (see
        :class:`.attribution.Attribution`).
    """

    __slots__ = (
        "_error",
        "_hidden",
        "_next",
        "_result",
        "_state",
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
        tools: Sequence[Handler],
        state: State,
        modes: HiddenModes | None,
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
        self.module: str = "" if parent is None else parent.module
        self._tools = tools
        self._next = 1
        self._state = state
        self._hidden = modes
        self._result: tuple[Any] | None = None
        self._error: BaseException | None = None

    def identity(self) -> OpCall:
        """Return the call without its arguments: it keeps no tensor alive."""
        call = OpCall.__new__(OpCall)
        call.name, call.level, call.function = self.name, self.level, self.function
        call.number, call.module, call.backward = self.number, self.module, self.backward
        call.parent = self.parent and self.parent.identity()
        call.args, call.kwargs, call._tools = (), {}, ()
        return call

    def run(self) -> Any:
        """Run the call through its tools, at least one, and the operator."""
        try:
            return self._through(self._tools[0])
        finally:
            self._result = self._error = None

    def proceed(self) -> Any:
        """Run the rest: the tools after this one, then the operator.

        Each tool that does not compute the result itself calls it, usually once; ``args`` and
        ``kwargs`` may have changed. Exceptions propagate.
        """
        at = self._next
        tools = self._tools
        self._result = None
        if at < len(tools):
            self._next = at + 1
            try:
                result = self._through(tools[at])
            finally:
                self._next = at
            self._result = (result,)
            return result
        state = self._state
        modes = self._hidden
        outer = state.api_call
        if self.level is Level.API:
            state.api_call = self
            # An overload is the innermost level that tools see; a function calls overloads.
            state.inside = False
        if modes is not None:
            depths = modes.show()
        try:
            result = self.function(*self.args, **self.kwargs)
        except BaseException as error:
            self._error = error
            raise
        finally:
            state.inside = True
            state.api_call = outer
            if modes is not None:
                modes.hide(*depths)
        self._result = (result,)
        return result

    def _through(self, tool: Handler) -> Any:
        """Let a tool handle the call. A tool that only observes does not fail the call."""
        try:
            return tool.handle(self)
        except Exception as error:
            if not tool.observes or error is self._error:
                self._error = error
                raise
            warn_failure(type(tool).__name__, self.name, error)
        return self.proceed() if self._result is None else self._result[0]
