"""Tools on single functions: ``apply_feature("torch.add", "fallback")``, and its undo."""

from __future__ import annotations

import functools
import importlib
import types
from collections.abc import Iterable
from typing import Any

import torch
from torch.overrides import get_overridable_functions

from dl_optools.features import make_tool
from dl_optools.levels import is_operator, through_tools
from dl_optools.names import Level
from dl_optools.selection import EVERYTHING
from dl_optools.tool import Condition, Tool


class Applied:
    """Result of :func:`apply_feature`; ``undo()`` or leaving ``with`` reverts it."""

    def __init__(self, tool: Tool, replaced: list[_Replaced]) -> None:
        self.tool = tool
        self._replaced = replaced
        self._open = True

    @property
    def functions(self) -> list[str]:
        """Names of the replaced functions: ``torch.nn.functional.linear``."""
        return [replaced.path for replaced in self._replaced]

    def undo(self) -> None:
        """Restore the previous functions; other features on the same functions stay.

        Does nothing the second time.

        :raises ResultsError: not all results of the tool were written.
        """
        replaced, self._replaced = self._replaced, []
        for one in replaced:
            one.without(self.tool)
        if self._open:
            self._open = False
            self.tool.closed()
            self.tool.raise_losses()

    def __enter__(self) -> Applied:
        return self

    def __exit__(self, *exception: object) -> None:
        self.undo()


def apply_feature(
    ops: str | Iterable[str],
    feature: str,
    condition_func: Condition | None = None,
    **options: Any,
) -> Applied:
    """Apply a tool to single functions, in every thread that calls them.

    Code that imported a function by name before (``from torch import add``) keeps the original.

    :param ops: names such as ``torch.nn.functional.linear``, also of other packages; a module's
        name stands for all of its public functions.
    :param feature: name of a tool: ``op_capture``, ``fallback``, ``autocompare``,
        ``measure_op_time``, ``dump_op_args``, ``cast_dtype``, ``overflow_check``.
    :param condition_func: called with the operator's arguments; the tool acts if it returns True.
    :param options: options of the tool, such as ``device="cpu"``.
    :raises ValueError: unknown feature, or a name of something that cannot be called or replaced.
    """
    tool = make_tool(
        feature, level=Level.API, ops=EVERYTHING, exclude=(), condition=condition_func, **options
    )
    return apply_tool(ops, tool)


def apply_tool(ops: str | Iterable[str], tool: Tool) -> Applied:
    """Apply a tool of the API level, which has not been started, to single functions.

    :param ops: as in :func:`apply_feature`.
    :raises ValueError: a name of something that cannot be called or replaced.
    """
    _check_condition(tool.condition)
    names = _names(ops)
    places = dict.fromkeys(place for name in names for place in _resolve(name))
    tool.prepare()
    applied = Applied(tool, [])
    try:
        for owner, name in places:
            applied._replaced.append(_get_replacement(owner, name))
            applied._replaced[-1].tools = (tool, *applied._replaced[-1].tools)
    except BaseException:
        applied.undo()
        raise
    return applied


def _names(ops: object) -> list[str]:
    """Return the names in an argument of :func:`apply_feature`.

    :raises ValueError: it is not a name or several.
    """
    given = [ops] if isinstance(ops, str) or not isinstance(ops, Iterable) else [*ops]
    names: list[str] = []
    for name in given:
        if not isinstance(name, str) or not name:
            raise ValueError(
                f"[apply_feature] ops: {name!r} is not the name of a function; pass names such as "
                "'torch.add'"
            )
        names.append(name)
    return names


def _check_condition(condition: object) -> None:
    """Check the argument ``condition_func``.

    :raises ValueError: it cannot be called.
    """
    if condition is not None and not callable(condition):
        raise ValueError(
            f"[apply_feature] condition_func: {condition!r} cannot be called; pass a function of "
            "the operator's arguments"
        )


def _resolve(name: str) -> list[tuple[Any, str]]:
    """Return the owner and attribute of a dotted name; several for a module."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            owner: Any = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        break
    else:
        raise ValueError(f"[apply_feature] {name!r}: module {parts[0]!r} does not exist")
    rest = parts[count:]
    if not rest:
        found = [(owner, public) for public in _functions(owner)]
        if not found:
            raise ValueError(f"[apply_feature] the module {name!r} has no functions")
        return found
    for part in rest[:-1]:
        owner = getattr(owner, part, None)
    if not callable(getattr(owner, rest[-1], None)):
        raise ValueError(
            f"[apply_feature] {name!r} cannot be called; names look like "
            "'torch.nn.functional.linear' or 'torch.Tensor.add'"
        )
    return [(owner, rest[-1])]


_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, torch._ops.OpOverloadPacket)


def _functions(module: types.ModuleType) -> list[str]:
    """Return the operators of a torch module, or the public functions of another module."""
    operators = get_overridable_functions().get(module)
    if operators is not None:
        known = {id(function) for function in operators}
        spelled = module.__name__
        return [
            name
            for name, value in vars(module).items()
            if id(value) in known and name[0] != "_" and is_operator(f"{spelled}.{name}")
        ]
    names = getattr(module, "__all__", None) or [x for x in vars(module) if x[0] != "_"]
    found = [name for name in names if isinstance(getattr(module, name, None), _FUNCTIONS)]
    # Imported functions belong to other modules.
    return [
        name
        for name in found
        if not isinstance(getattr(module, name), types.FunctionType)
        or getattr(module, name).__module__.startswith(module.__name__)
    ]


class _Replaced:
    """A replaced function, with the tools that it goes through."""

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name
        self.path = f"{_path(owner)}.{name}"
        # Inherited attributes are deleted again rather than restored.
        self.own = name in vars(owner)
        self.original = vars(owner)[name] if self.own else None
        self.tools: tuple[Tool, ...] = ()
        function = getattr(owner, name)

        @functools.wraps(function)
        def through(*args: Any, **kwargs: Any) -> Any:
            return through_tools(self.path, Level.API, function, args, kwargs, self.tools)

        static = isinstance(self.original, (staticmethod, classmethod))
        self.replacement: Any = staticmethod(through) if static else through
        try:
            setattr(owner, name, self.replacement)
        except (AttributeError, TypeError) as error:
            raise ValueError(
                f"[apply_feature] {self.path!r} cannot be replaced: {error}"
            ) from error
        _at[id(owner), name] = self

    def is_in_place(self) -> bool:
        """Return True if the replacement is still in place."""
        return vars(self.owner).get(self.name) is self.replacement

    def without(self, tool: Tool) -> None:
        """Remove a tool, and with the last one the replacement, if it is still in place."""
        self.tools = tuple(other for other in self.tools if other is not tool)
        if self.tools:
            return
        if _at.get((id(self.owner), self.name)) is self:
            del _at[id(self.owner), self.name]
        if self.is_in_place():
            if self.own:
                setattr(self.owner, self.name, self.original)
            else:
                delattr(self.owner, self.name)


_at: dict[tuple[int, str], _Replaced] = {}
"""The last replacement of each attribute; it keeps the owner alive, and so its id."""


def _get_replacement(owner: Any, name: str) -> _Replaced:
    known = _at.get((id(owner), name))
    return known if known is not None and known.is_in_place() else _Replaced(owner, name)


def _path(owner: Any) -> str:
    if isinstance(owner, type):
        # `torch._tensor.Tensor` is known as `torch.Tensor`.
        module = "torch" if issubclass(owner, torch.Tensor) else owner.__module__
        return f"{module}.{owner.__qualname__}"
    return str(getattr(owner, "__name__", None) or type(owner).__name__)
