"""Tools on single functions: ``apply_feature("torch.add", "fallback")``, and back."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterable
from typing import Any

import torch

from dl_optools.features import make_tool
from dl_optools.levels import through_tools
from dl_optools.names import Level
from dl_optools.selection import EVERYTHING
from dl_optools.tool import Condition, Tool


class Applied:
    """What one :func:`apply_feature` did; ``undo()`` or leaving ``with`` takes it back."""

    def __init__(self, tool: Tool, places: list[tuple[Any, str]]) -> None:
        self.tool = tool
        self._places = places

    @property
    def functions(self) -> list[str]:
        """Where functions were replaced: ``torch.nn.functional.linear``."""
        return [f"{_path(owner)}.{name}" for owner, name in self._places]

    def undo(self) -> None:
        """Put back what stood there; other features on the same functions stay. Once."""
        places, self._places = self._places, []
        for owner, name in places:
            _without(owner, name, self.tool)
        if places:
            self.tool.closed()

    def __enter__(self) -> Applied:
        return self

    def __exit__(self, *exception: object) -> None:
        self.undo()


def apply_feature(
    ops: str | Iterable[str], feature: str, condition_func: Condition | None = None
) -> Applied:
    """Make a tool act on single functions, wherever they are called from.

    :param ops: names such as ``torch.nn.functional.linear``, also of other packages; a module's
        name stands for all of its public functions.
    :param feature: name of a tool: ``op_capture``, ``fallback``, ``autocompare``,
        ``measure_op_time``, ``dump_op_args``, ``cast_dtype``, ``overflow_check``.
    :param condition_func: called with the operator's arguments; the tool acts where it is true.
    :raises ValueError: no such feature, or a name leads to nothing that can be called.
    """
    names = [ops] if isinstance(ops, str) else list(ops)
    places = [place for name in names for place in _places(name)]
    tool = make_tool(feature, ops=EVERYTHING, exclude=(), condition=condition_func)
    tool.prepare()
    for owner, name in places:
        _with(owner, name, tool)
    return Applied(tool, places)


def _places(name: str) -> list[tuple[Any, str]]:
    """The owner and attribute behind a dotted name; several for a module."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            owner: Any = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        break
    else:
        raise ValueError(f"[apply_feature] {name!r}: there is no module {parts[0]!r}")
    rest = parts[count:]
    if not rest:
        public = getattr(owner, "__all__", None) or [x for x in vars(owner) if x[0] != "_"]
        found = [(owner, x) for x in public if _is_function(getattr(owner, x, None))]
        if not found:
            raise ValueError(f"[apply_feature] the module {name!r} has no functions")
        return found
    for part in rest[:-1]:
        owner = getattr(owner, part, None)
    if not callable(getattr(owner, rest[-1], None)):
        raise ValueError(
            f"[apply_feature] {name!r} is nothing that can be called; names look like "
            "'torch.nn.functional.linear' or 'torch.Tensor.add'"
        )
    return [(owner, rest[-1])]


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type)


class _Replaced:
    """A function that was replaced where it stood, with the tools it goes through now."""

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name
        # Classes inherit: what they do not have themselves is deleted again, not written.
        self.own = name in vars(owner)
        self.original = vars(owner)[name] if self.own else None
        self.tools: tuple[Tool, ...] = ()
        function = getattr(owner, name)
        spelled = f"{_path(owner)}.{name}"

        @functools.wraps(function)
        def through(*args: Any, **kwargs: Any) -> Any:
            return through_tools(spelled, Level.API, function, args, kwargs, self.tools)

        self.replacement = through
        setattr(owner, name, through)

    def restore(self) -> None:
        """Put the original back, unless somebody else has replaced ours since."""
        if vars(self.owner).get(self.name) is not self.replacement:
            return
        if self.own:
            setattr(self.owner, self.name, self.original)
        else:
            delattr(self.owner, self.name)


_replaced: dict[tuple[int, str], _Replaced] = {}


def _path(owner: Any) -> str:
    if isinstance(owner, type):
        # `torch._tensor.Tensor` is known as `torch.Tensor`.
        module = "torch" if issubclass(owner, torch.Tensor) else owner.__module__
        return f"{module}.{owner.__qualname__}"
    return str(owner.__name__)


def _with(owner: Any, name: str, tool: Tool) -> None:
    place = (id(owner), name)
    known = _replaced.get(place)
    if known is None or vars(owner).get(name) is not known.replacement:
        known = _replaced[place] = _Replaced(owner, name)
    known.tools = (tool, *known.tools)


def _without(owner: Any, name: str, tool: Tool) -> None:
    known = _replaced[id(owner), name]
    known.tools = tuple(other for other in known.tools if other is not tool)
    if not known.tools:
        known.restore()
        del _replaced[id(owner), name]
