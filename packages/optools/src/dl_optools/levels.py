"""The two places where calls are met: torch's function mode and its dispatch mode.

Each level has one mode a thread, however many tools there are, so that tools start and stop in any
order. It is on torch's stack only while a tool of its level runs in that thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import torch
from torch import overrides
from torch.overrides import TorchFunctionMode
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from dl_optools.call import THREAD, OpCall
from dl_optools.names import Level, api_name, overload_name

if TYPE_CHECKING:
    from dl_optools.tool import Tool

# They answer from what a tensor says of itself, or call other functions that are seen.
METADATA = frozenset(
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
PARENT = "dl_optools.call"
"""Key of an autograd node's metadata: the call that made the node."""


def is_operator(name: str) -> bool:
    """False for functions that read metadata, and for attributes."""
    return name not in METADATA and not name.endswith(_ACCESSORS)


class _Chains:
    """The tools of one level in one thread, and which of them want a function."""

    def __init__(self) -> None:
        self.tools: tuple[Tool, ...] = ()
        self._known: dict[Any, tuple[str, tuple[Tool, ...]]] = {}

    def change(self, tools: Iterable[Tool]) -> None:
        self.tools = tuple(tools)
        self._known = {}

    def of(
        self, function: Callable[..., Any], name_of: Callable[[Any], str]
    ) -> tuple[str, tuple[Tool, ...]]:
        """The function's name and the tools that want it."""
        known = self._known.get(function)
        if known is None:
            name = name_of(function)
            wanted = self.tools if is_operator(name) else ()
            known = (name, tuple(tool for tool in wanted if tool.wants(name, function)))
            self._known[function] = known
        return known


def through_tools(
    name: str,
    level: Level,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tools: tuple[Tool, ...],
    parent: OpCall | None = None,
    backward: bool = False,
) -> Any:
    """Call a function through those of its tools whose device and condition fit."""
    fitting = tuple(tool for tool in tools if tool.applies(args, kwargs))
    if not fitting or THREAD.inside:
        return function(*args, **kwargs)
    return OpCall(name, level, function, args, kwargs, fitting, parent, backward).run()


class ApiMode(TorchFunctionMode):
    """Sees the functions of torch that a program calls, not those that they call in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.chains = _Chains()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, tools = self.chains.of(func, api_name)
        if not tools or THREAD.inside:
            return func(*args, **(kwargs or {}))
        return through_tools(name, Level.API, func, args, kwargs or {}, tools)


class DispatchMode(TorchDispatchMode):
    """Sees the overloads that the dispatcher runs, in backward too."""

    def __init__(self) -> None:
        super().__init__()
        self.chains = _Chains()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, tools = self.chains.of(func, overload_name)
        if not tools or THREAD.inside:
            return func(*args, **(kwargs or {}))
        node = torch._C._current_autograd_node()
        parent = THREAD.api_call if node is None else node.metadata.get(PARENT)
        backward = node is not None
        return through_tools(
            name, Level.DISPATCH, func, args, kwargs or {}, tools, parent, backward
        )


class _Thread(threading.local):
    def __init__(self) -> None:
        self.modes: dict[Level, ApiMode | DispatchMode] = {}


_thread = _Thread()
_MODES: dict[Level, type[ApiMode] | type[DispatchMode]] = {
    Level.API: ApiMode,
    Level.DISPATCH: DispatchMode,
}


def add(tool: Tool, level: Level) -> None:
    """Send the calls of this thread through a tool, too: the last one added meets them first."""
    mode = _thread.modes.get(level)
    if mode is None:
        mode = _thread.modes[level] = _MODES[level]()
        mode.__enter__()
    mode.chains.change((tool, *mode.chains.tools))


def remove(tool: Tool, level: Level) -> None:
    """Undo :func:`add`, in the thread that called it."""
    mode = _thread.modes.get(level)
    if mode is None or tool not in mode.chains.tools:
        raise RuntimeError(
            f"[{type(tool).__name__}] it was started in another thread; stop it there"
        )
    mode.chains.change(other for other in mode.chains.tools if other is not tool)
    if not mode.chains.tools:
        del _thread.modes[level]
        _leave(mode)


def changeable() -> bool:
    """Whether tools of this thread may be added and removed now.

    Not within backward, nor within a call that one of the modes sees: torch puts back the stack of
    modes that was there before.
    """
    if torch._C._current_graph_task_id() != -1:
        return False
    stacks = (
        *overrides._get_current_function_mode_stack(),
        *_python_dispatch._get_current_dispatch_mode_stack(),
    )
    return all(any(mode is other for other in stacks) for mode in _thread.modes.values())


def _leave(mode: ApiMode | DispatchMode) -> None:
    """Take a mode off torch's stack, from below others if need be; those notice nothing."""
    if isinstance(mode, ApiMode):
        pop: Callable[[], Any] = overrides._pop_mode
        push: Callable[[Any], Any] = overrides._push_mode
        stack: list[Any] = overrides._get_current_function_mode_stack()
    else:
        pop, push = _python_dispatch._pop_mode, _python_dispatch._push_mode
        stack = _python_dispatch._get_current_dispatch_mode_stack()
    at = max(index for index, other in enumerate(stack) if other is mode)
    above = [pop() for _ in stack[at + 1 :]]
    mode.__exit__(None, None, None)
    for other in reversed(above):
        push(other)
