"""Parser of the expressions in ``operators/*.yaml``.

The grammar is a subset of Python's: names, ``$temporaries``, literals, lists, calls of views and of
``@helpers``, arithmetic on numbers, comparisons and indices. Python's own parser reads it, after
``$`` and ``@`` are replaced by letters, so columns are those of the text.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache

_TEMPORARY, _HELPER = "τ", "η"
_MARKED = re.compile(r"'[^']*'|\"[^\"]*\"|([$@])(?=[A-Za-z_])")
# Words that are parameters of operators and keywords of Python. Python's parser reads a keyword
# whose first letter is a mathematical letter as a name, which it normalizes to the ordinary letter
# (PEP 3131).
_KEYWORD = re.compile(r"(?<![\w.])(from|as|is|with|class|global|lambda|pass|del)(?!\w)")
_WORDS = {"null": None, "true": True, "false": False}

_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}


class ExpressionError(Exception):
    """An invalid expression; ``column`` is the offset in its text."""

    def __init__(self, column: int, message: str) -> None:
        super().__init__(message)
        self.column = column


@dataclass(frozen=True, slots=True)
class Expression:
    """A part of an expression; ``column`` is its offset in the text."""

    column: int


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A parameter of the operator, a dtype, or a loop index."""

    name: str


@dataclass(frozen=True, slots=True)
class Temporary(Expression):
    """``$name``."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A number, a string, a boolean, or None for ``null``."""

    value: int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class Items(Expression):
    """``[a, b]``, or ``(a, b)`` after ``in``."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """``view(...)``, ``@helper(...)``, or a function of the library."""

    function: str
    helper: bool
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Operation(Expression):
    """Operator with its operands: ``not``, ``-``, ``+``, ``==``, ``in``, ``and`` and so on."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Index(Expression):
    """``list[index]``."""

    of: Expression
    index: Expression


@cache
def parse(text: str) -> Expression:
    """Parse an expression.

    :raises ExpressionError: it is not in the grammar.
    """
    marked = _MARKED.sub(
        lambda x: x[0] if x[1] is None else (_TEMPORARY if x[1] == "$" else _HELPER), text
    )
    marked = _KEYWORD.sub(lambda x: chr(ord(x[0][0]) - ord("a") + 0x1D5BA) + x[0][1:], marked)
    try:
        tree = ast.parse(marked, mode="eval")
    except SyntaxError as error:
        message = f"cannot be read: {error.msg}"
        raise ExpressionError(max((error.offset or 1) - 1, 0), message) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(0, "cannot be read: too deep, or an invalid character") from error
    return _Reader(marked).read(tree.body)


class _Reader:
    def __init__(self, text: str) -> None:
        self._bytes = text.encode()

    def _column(self, node: ast.expr) -> int:
        # Python counts bytes of the first line.
        return len(self._bytes[: node.col_offset].decode(errors="ignore"))

    def read(self, node: ast.expr) -> Expression:
        column = self._column(node)
        match node:
            case ast.Name(id=name):
                return self._name(column, name)
            case ast.Constant(value=value) if isinstance(value, str | bool | int | float):
                return Literal(column, value)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return Items(column, tuple(map(self.read, items)))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                read = tuple(map(self.read, arguments))
                if name.startswith(_TEMPORARY):
                    raise ExpressionError(column, f"${name[1:]} is a temporary, not a function")
                helper = name.startswith(_HELPER)
                return Call(column, name[1:] if helper else name, helper, read)
            case ast.Attribute(value=value, attr="dtype"):
                return Call(column, "dtype", False, (self.read(value),))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)) if isinstance(
                value, int | float
            ) and not isinstance(value, bool):
                return Literal(column, -value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Operation(column, "-", (self.read(operand),))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Operation(column, "not", (self.read(operand),))
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _ARITHMETIC:
                operands = (self.read(left), self.read(right))
                return Operation(column, _ARITHMETIC[type(operator)], operands)
            case ast.BoolOp(op=logic, values=values):
                word = "and" if isinstance(logic, ast.And) else "or"
                return Operation(column, word, tuple(map(self.read, values)))
            case ast.Compare(left=left, ops=[comparison], comparators=[right]) if (
                type(comparison) in _COMPARISONS
            ):
                operands = (self.read(left), self.read(right))
                return Operation(column, _COMPARISONS[type(comparison)], operands)
            case ast.Subscript(value=value, slice=index):
                return Index(column, self.read(value), self.read(index))
            case ast.Compare():
                raise ExpressionError(column, "compare two values; join comparisons with 'and'")
        raise ExpressionError(
            column,
            "is not part of an expression here; see the grammar in docs/library-format.md",
        )

    def _name(self, column: int, name: str) -> Expression:
        if name.startswith(_TEMPORARY):
            return Temporary(column, name[1:])
        if name.startswith(_HELPER):
            return Call(column, name[1:], True, ())
        if name in _WORDS:
            return Literal(column, _WORDS[name])
        return Name(column, name)


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of ``call`` or ``calls``: a call, and the condition after ``if``."""

    call: Call
    condition: Expression | None


def parse_step(text: str) -> Step:
    """Parse ``function(arguments)`` or ``function(arguments) if condition``.

    :raises ExpressionError: it is something else.
    """
    head, word, tail = text.rpartition(" if ")
    condition = None
    if word and head.count("(") == head.count(")"):
        try:
            condition = parse(tail)
        except ExpressionError as error:
            column = len(head) + len(word) + error.column
            raise ExpressionError(column, str(error)) from error
        text = head
    call = parse(text.rstrip())
    if not isinstance(call, Call):
        raise ExpressionError(0, "must be a call, as in aclnnAdd(input, other, alpha, out)")
    return Step(call, condition)
