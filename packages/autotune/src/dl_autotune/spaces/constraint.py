"""Constraints between parameters, as functions or as Python expressions."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Union

from ..errors import SpaceError
from . import bounded
from .parameter import Value

FUNCTIONS = (
    "abs",
    "all",
    "any",
    "bool",
    "float",
    "int",
    "len",
    "max",
    "min",
    "pow",
    "round",
    "sum",
)
"""Functions that an expression may call."""
_ALLOWED = (
    ast.Expression, ast.BoolOp, ast.boolop, ast.BinOp, ast.operator, ast.UnaryOp, ast.unaryop,
    ast.Compare, ast.cmpop, ast.IfExp, ast.Call, ast.Constant, ast.Name, ast.Load, ast.Tuple,
    ast.List,
)  # fmt: skip

Predicate = Callable[..., Any]
ConstraintLike = Union[str, Predicate, "Constraint"]


@dataclass(frozen=True)
class Constraint:
    """A predicate over some parameters.

    :ivar names: the parameters that `function` takes, in its order.
    :ivar text: name of the constraint in messages.
    """

    function: Predicate
    names: tuple[str, ...]
    text: str

    @classmethod
    def of(cls, given: ConstraintLike) -> Constraint:
        """Create from a function with the names of parameters of the space, or a Python expression.

        :raises SpaceError: the function has a parameter that is not plain, or the text is not an
            expression, or does more than calculate.
        """
        if isinstance(given, Constraint):
            return given
        if isinstance(given, str):
            return cls._of_expression(given)
        if not callable(given):
            raise SpaceError(f"[space] constraint {given!r} is neither a function nor text")
        names = []
        for parameter in inspect.signature(given).parameters.values():
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.POSITIONAL_ONLY):
                raise SpaceError(
                    f"[space] constraint {_called(given)}: {parameter} is not a plain parameter "
                    "that names one of the space"
                )
            if parameter.default is parameter.empty:
                names.append(parameter.name)
        if not names:
            raise SpaceError(f"[space] constraint {_called(given)} takes no parameter of the space")
        return cls(given, tuple(names), _called(given))

    @classmethod
    def _of_expression(cls, text: str) -> Constraint:
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except SyntaxError as error:
            raise SpaceError(
                f"[space] constraint {text!r} is not an expression: {error.msg}"
            ) from None
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        names: list[str] = []
        for node in ast.walk(tree):
            if not isinstance(node, _ALLOWED):
                raise SpaceError(
                    f"[space] constraint {text!r}: {type(node).__name__} is not allowed in an "
                    "expression; use a function instead"
                )
            if isinstance(node, ast.Call) and not (
                isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords
            ):
                raise SpaceError(
                    f"[space] constraint {text!r} may call only {', '.join(FUNCTIONS)}"
                )
            if isinstance(node, ast.Name) and id(node) not in called and node.id not in names:
                names.append(node.id)
        if not names:
            raise SpaceError(f"[space] constraint {text!r} names no parameter")
        allowed = {name: getattr(builtins, name) for name in FUNCTIONS}
        allowed |= {"pow": bounded.power, **bounded.OPERATIONS}
        function = ast.Expression(
            ast.Lambda(
                ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, []),
                bounded.Bounded().visit(tree.body),
            )
        )
        code = compile(ast.fix_missing_locations(function), f"<constraint {text}>", "eval")
        made: Predicate = eval(code, {"__builtins__": {}, **allowed})
        return cls(made, tuple(names), text.strip())

    def holding(self, columns: Sequence[Sequence[Value]]) -> list[bool]:
        """Evaluate many combinations; `columns` has one array of values per name.

        :raises SpaceError: the predicate itself failed.
        """
        done: list[bool] = []
        try:
            done.extend(map(bool, map(self.function, *columns)))
        except Exception as error:
            values = [column[len(done)] for column in columns]
            shown = ", ".join(f"{n}={v!r}" for n, v in zip(self.names, values, strict=True))
            raise SpaceError(
                f"[space] constraint {self.text} failed for {shown}:"
                f" {type(error).__name__}: {error}"
            ) from error
        return done


def _called(function: Predicate) -> str:
    name = getattr(function, "__name__", repr(function))
    code = getattr(function, "__code__", None)
    where = f" (line {code.co_firstlineno})" if code is not None else ""
    return f"{name}{where}"
