"""The two levels at which calls are observed: torch's function mode and its dispatch mode.

Each level has one mode per thread, independent of the number of tools, so that tools start and stop
in any order. It is on torch's stack only while a tool of its level runs in that thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from dl_optools.backward_graph import node_metadata
from dl_optools.call import OUR_MODES, THREAD, Handler, OpCall, State
from dl_optools.mode_stack import dispatch_depth, enter, function_depth, hide_modes, leave, on_stack
from dl_optools.names import Level, api_name, overload_name

# These read a tensor's metadata, or call other functions that are observed.
METADATA = frozenset({"torch._has_compatible_shallow_copy_type"}) | frozenset(
    f"torch.Tensor.{name}"
    for name in [
        "__deepcopy__",
        "__dir__",
        "__dlpack__",
        "__dlpack_device__",
        "__format__",
        "__hash__",
        "__len__",
        "__repr__",
        "__reduce_ex__",
        "__setstate__",
        "backward",
        "data_ptr",
        "dense_dim",
        "dim",
        "element_size",
        "get_device",
        "has_names",
        "is_complex",
        "is_conj",
        "is_contiguous",
        "is_floating_point",
        "is_inference",
        "is_neg",
        "is_nonzero",
        "is_pinned",
        "is_same_size",
        "is_set_to",
        "is_shared",
        "is_signed",
        "ndimension",
        "nelement",
        "numel",
        "register_hook",
        "register_post_accumulate_grad_hook",
        "requires_grad_",
        "retain_grad",
        "size",
        "sparse_dim",
        "storage",
        "storage_offset",
        "stride",
        "type",
        "untyped_storage",
    ]
)
_ACCESSORS = (".__get__", ".__set__", ".__delete__")
_BACKWARD: Mapping[Callable[..., Any], Callable[..., Any]] = {
    torch.Tensor.backward: torch.autograd.backward,
    torch.autograd.backward: torch.autograd.backward,
    torch.autograd.grad: torch.autograd.grad,
}
"""Functions that run autograd's engine, and the attributes that hold them."""
_ENGINE = "_engine_run_backward"
_current_node = torch._C._current_autograd_node
PARENT = "dl_optools.call"
"""Key of an autograd node's metadata: the call that created the node."""


def is_operator(name: str) -> bool:
    """Return False for functions that read metadata, and for attributes."""
    return not (name in METADATA or name.startswith("torch.autograd.") or name.endswith(_ACCESSORS))


class _Chains:
    """Tools of one level in one thread, and for each function the tools that want it."""

    def __init__(self, name_of: Callable[[Any], str]) -> None:
        self.tools: tuple[Handler, ...] = ()
        self.known: dict[Any, tuple[str, tuple[Handler, ...]]] = {}
        self._name_of = name_of

    def change(self, tools: Iterable[Handler]) -> None:
        self.tools = tuple(tools)
        self.known = {}

    def look_up(self, function: Callable[..., Any]) -> tuple[str, tuple[Handler, ...]]:
        """Return the function's name and the tools that want it."""
        name = self._name_of(function)
        wanted = self.tools if is_operator(name) else ()
        if isinstance(function, HigherOrderOperator):
            wanted = ()
        found = name, tuple(tool for tool in wanted if tool.wants(name, function))
        self.known[function] = found
        return found


def through_tools(
    name: str,
    level: Level,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tools: tuple[Handler, ...],
    parent: OpCall | None = None,
    backward: bool = False,
) -> Any:
    """Call a function through those of its tools whose device and condition match."""
    state = THREAD.state
    if not state.inside:
        state.inside = True
        modes = hide_modes(OUR_MODES) if function_depth() or dispatch_depth() else None
        try:
            if len(tools) != 1:
                tools = tuple([tool for tool in tools if tool.applies(args, kwargs)])
            elif not tools[0].applies(args, kwargs):
                tools = ()
            if tools:
                call = OpCall(
                    name, level, function, args, kwargs, tools, state, modes, parent, backward
                )
                return call.run()
        finally:
            if modes is not None:
                modes.show()
            state.inside = False
    return (
        function(*args, **kwargs)
        if level is Level.API
        else _call_overload(state, function, args, kwargs)
    )


def _call_overload(
    state: State, overload: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call an overload from the dispatch mode, hidden from the API level's tools."""
    outer = state.inside
    state.inside = True
    try:
        return overload(*args, **kwargs)
    finally:
        state.inside = outer


class ApiMode(TorchFunctionMode):
    """Observes the torch functions that a program calls, but not those that they call in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.chains = _Chains(api_name)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        chains = self.chains
        known = chains.known.get(func)
        if known is None:
            known = chains.look_up(func)
        if known[1]:
            return through_tools(known[0], Level.API, func, args, kwargs or {}, known[1])
        if func in _BACKWARD:
            return self._backward(func, args, kwargs or {})
        return func(*args, **(kwargs or {}))

    def _backward(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Run autograd's engine with this mode on, which torch itself would turn off.

        Backward recomputes checkpointed functions, and runs functions of the user. If modes of the
        program are below this one, they get the call unchanged.
        """
        home = _BACKWARD[func]
        engine = home.__globals__.get(_ENGINE)
        if engine is None or function_depth():
            return func(*args, **kwargs)

        def with_mode(*args: Any, **kwargs: Any) -> Any:
            enter(self)
            try:
                return engine(*args, **kwargs)
            finally:
                leave(self)

        copy = FunctionType(
            home.__code__,
            {**home.__globals__, _ENGINE: with_mode},
            home.__name__,
            home.__defaults__,
            home.__closure__,
        )
        copy.__kwdefaults__ = home.__kwdefaults__
        if func is torch.Tensor.backward and "gradient" in kwargs:
            kwargs = {**kwargs, "grad_tensors": kwargs["gradient"]}
            del kwargs["gradient"]
        return copy(*args, **kwargs)


class DispatchMode(TorchDispatchMode):
    """Observes the overloads that the dispatcher runs, in backward too."""

    # Composite overloads pass through: the overloads that they call are observed.
    supports_higher_order_operators = True

    def __init__(self) -> None:
        TorchDispatchMode.__init__(self)
        self.chains = _Chains(overload_name)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        chains = self.chains
        known = chains.known.get(func)
        if known is None:
            known = chains.look_up(func)
        state = THREAD.state
        if state.inside or not known[1]:
            return _call_overload(state, func, args, kwargs or {})
        node = _current_node()
        parent = state.api_call if node is None else node_metadata(node).get(PARENT)
        backward = node is not None
        return through_tools(
            known[0], Level.DISPATCH, func, args, kwargs or {}, known[1], parent, backward
        )


OUR_MODES.append(DispatchMode)


class _Thread(threading.local):
    def __init__(self) -> None:
        self.modes: dict[Level, ApiMode | DispatchMode] = {}


_thread = _Thread()
_MODES: dict[Level, type[ApiMode] | type[DispatchMode]] = {
    Level.API: ApiMode,
    Level.DISPATCH: DispatchMode,
}


def add(tool: Handler, level: Level) -> None:
    """Send the calls of this thread through a tool; the last added tool sees them first."""
    mode = _thread.modes.get(level)
    if mode is None:
        mode = _thread.modes[level] = _MODES[level]()
        enter(mode)
    mode.chains.change((tool, *mode.chains.tools))


def has(tool: Handler, level: Level) -> bool:
    """Return True if the calls of this thread go through a tool."""
    mode = _thread.modes.get(level)
    return mode is not None and tool in mode.chains.tools


def can_change_modes() -> bool:
    """Return True if the modes of this thread can be removed now.

    Not within backward, nor within a call that a mode observes: torch restores the previous
    stack of modes afterwards.
    """
    if torch._C._current_graph_task_id() != -1:
        return False
    return all(on_stack(mode) for mode in _thread.modes.values())


def remove(tool: Handler, level: Level) -> None:
    """Undo :func:`add`, in the thread that called it.

    Unless :func:`can_change_modes`, an idle mode stays on torch's stack until the next tool of the
    thread starts and stops.

    :raises RuntimeError: called in another thread.
    """
    mode = _thread.modes.get(level)
    if mode is None or tool not in mode.chains.tools:
        raise RuntimeError(
            f"[{type(tool).__name__}] it was started in another thread; stop it there"
        )
    mode.chains.change(other for other in mode.chains.tools if other is not tool)
    if can_change_modes():
        for place, idle in list(_thread.modes.items()):
            if not idle.chains.tools:
                del _thread.modes[place]
                leave(idle)


def modes_of_thread() -> list[ApiMode | DispatchMode]:
    """Return the modes that observe the calls of this thread."""
    return list(_thread.modes.values())


def leave_thread() -> None:
    """Undo every :func:`add` of this thread, which is about to end."""
    for level, mode in list(_thread.modes.items()):
        mode.chains.change(())
        del _thread.modes[level]
        if on_stack(mode):
            leave(mode)
