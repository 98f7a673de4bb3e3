"""Parser of the expressions in ``operators/*.yaml``.

The grammar is a subset of Python's: names, ``$temporaries``, literals, lists, calls of views and of
``@helpers``, arithmetic on numbers, comparisons and indices. Precedences are those of Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from .names import LARGEST_INT64
from .syntax import (
    Call,
    Expression,
    Index,
    Items,
    Literal,
    Name,
    Operation,
    Temporary,
    children,
)
from .tokens import END, ExpressionError, Token, tokens_of, unexpected

__all__ = [
    "Call",
    "Expression",
    "ExpressionError",
    "Index",
    "Items",
    "Literal",
    "Name",
    "Operation",
    "Step",
    "Temporary",
    "parse",
    "parse_step",
]

_WORDS = {"null": None, "true": True, "false": False}
_RESERVED = frozenset(("and", "or", "not", "in", "if", "else"))
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_DEEPEST = 40
"""Nested parts of an expression; the deepest one of a real library has 6."""


@cache
def parse(text: str) -> Expression:
    """Parse an expression.

    :raises ExpressionError: it is not in the grammar.
    """
    parser = _Parser(text)
    found = parser.expression()
    parser.finish()
    return found


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of ``call`` or ``calls``: a call, and the condition after ``if``."""

    call: Call
    condition: Expression | None


@cache
def parse_step(text: str) -> Step:
    """Parse ``function(arguments)`` or ``function(arguments) if condition``.

    :raises ExpressionError: it is something else.
    """
    parser = _Parser(text)
    call = parser.expression()
    condition = parser.expression() if parser.take("if") else None
    parser.finish()
    if not isinstance(call, Call):
        raise ExpressionError(
            call.column, "must be a call, as in aclnnAdd(input, other, alpha, out)"
        )
    return Step(call, condition)


class _Parser:
    """Recursive-descent parser with one method for each precedence."""

    def __init__(self, text: str) -> None:
        self._tokens = tokens_of(text)
        self._position = 0
        self._depth = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._position]

    def take(self, *texts: str) -> Token | None:
        """Return the next token, which is consumed, if its text is listed; otherwise None."""
        token = self._next
        if token.kind in ("name", "symbol") and token.text in texts:
            self._position += 1
            return token
        return None

    def finish(self) -> None:
        """Check that the text ends here."""
        if self._next.kind != END:
            raise unexpected(self._next)

    def expression(self) -> Expression:
        """Return the expression that begins at the next token."""
        found = self._nested(self._any)
        _check_depth(found)
        return found

    def _nested(self, read: Callable[[], Expression]) -> Expression:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _too_deep(self._next.column)
        found = read()
        self._depth -= 1
        return found

    def _any(self) -> Expression:
        return self._logic("or", lambda: self._logic("and", self._not))

    def _logic(self, word: str, read: Callable[[], Expression]) -> Expression:
        operands = [read()]
        while self.take(word):
            operands.append(read())
        first = operands[0]
        return first if len(operands) == 1 else Operation(first.column, word, tuple(operands))

    def _not(self) -> Expression:
        token = self.take("not")
        if token is None:
            return self._comparison()
        return Operation(token.column, "not", (self._nested(self._not),))

    def _comparison(self) -> Expression:
        left = self._sum()
        operator = self._comparison_operator()
        if not operator:
            return left
        found = Operation(left.column, operator, (left, self._sum()))
        if self._comparison_operator():
            raise ExpressionError(left.column, "compare two values; join comparisons with 'and'")
        return found

    def _comparison_operator(self) -> str:
        token = self.take(*_COMPARISONS, "in")
        if token is not None:
            return token.text
        following = self._tokens[min(self._position + 1, len(self._tokens) - 1)]
        if following.text == "in" and self.take("not") and self.take("in"):
            return "not in"
        return ""

    def _sum(self) -> Expression:
        return self._chain(("+", "-"), lambda: self._chain(("*", "/", "//"), self._sign))

    def _chain(self, operators: tuple[str, ...], read: Callable[[], Expression]) -> Expression:
        left = read()
        while token := self.take(*operators):
            left = Operation(left.column, token.text, (left, read()))
        return left

    def _sign(self) -> Expression:
        token = self.take("-")
        if token is None:
            return self._postfix()
        operand = self._nested(self._sign)
        value = operand.value if isinstance(operand, Literal) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Literal(token.column, -value)
        return Operation(token.column, "-", (operand,))

    def _postfix(self) -> Expression:
        token = self._next
        found = self._atom()
        while True:
            if self._next.text == "(" and self._next.kind == "symbol":
                found = self._call(token, found)
            elif opening := self.take("["):
                found = Index(found.column, found, self._nested(self._any))
                self._close(opening, "]")
            elif self.take("."):
                if self.take("dtype") is None:
                    raise unexpected(self._next)
                found = Call(found.column, "dtype", False, (found,))
            else:
                return found

    def _call(self, token: Token, called: Expression) -> Expression:
        if isinstance(called, Temporary):
            raise ExpressionError(token.column, f"{token.text} is a temporary, not a function")
        # The token before the bracket is the name; a name in brackets is not called.
        named = self._tokens[self._position - 1] is token and token.kind in ("name", "mark")
        if not named or token.text in _WORDS:
            raise unexpected(self._next)
        arguments = tuple(self._listed("(", ")")[0])
        if token.kind == "mark":
            return Call(token.column, token.text[1:], True, arguments)
        return Call(token.column, token.text, False, arguments)

    def _atom(self) -> Expression:
        token = self._next
        if token.kind == "symbol" and token.text in "([":
            return self._bracket(token)
        if token.kind in (END, "symbol") or (token.kind == "name" and token.text in _RESERVED):
            raise unexpected(token)
        self._position += 1
        if token.kind == "number":
            return Literal(token.column, _number(token))
        if token.kind == "text":
            return Literal(token.column, token.text[1:-1])
        if token.kind == "mark":
            if token.text[0] == "$":
                return Temporary(token.column, token.text[1:])
            return Call(token.column, token.text[1:], True, ())
        if token.text in _WORDS:
            return Literal(token.column, _WORDS[token.text])
        return Name(token.column, token.text)

    def _bracket(self, token: Token) -> Expression:
        if token.text == "[":
            return Items(token.column, tuple(self._listed("[", "]")[0]))
        items, comma = self._listed("(", ")")
        return items[0] if len(items) == 1 and not comma else Items(token.column, tuple(items))

    def _listed(self, opening: str, closing: str) -> tuple[list[Expression], bool]:
        """Return the expressions in brackets, and whether a comma follows the last one."""
        begin = self.take(opening)
        assert begin is not None
        items: list[Expression] = []
        comma = True
        while comma and self._next.text != closing:
            items.append(self._nested(self._any))
            comma = self.take(",") is not None
        self._close(begin, closing)
        return items, comma and bool(items)

    def _close(self, opening: Token, closing: str) -> None:
        if self.take(closing) is not None:
            return
        if self._next.kind == END:
            raise ExpressionError(
                opening.column, f"cannot be read: '{opening.text}' is not closed; add '{closing}'"
            )
        raise unexpected(self._next)


def _number(token: Token) -> int | float:
    text = token.text
    if text.isdigit():
        if len(text) > 1 and text[0] == "0":
            raise ExpressionError(
                token.column, "cannot be read: a number begins with 0; remove the zeros"
            )
        # Python refuses to convert thousands of digits.
        value = int(text) if len(text) < 20 else LARGEST_INT64 + 1
        if value > LARGEST_INT64:
            raise ExpressionError(
                token.column, "the integer does not fit 64 bits; write a smaller one, or 1e30"
            )
        return value
    number = float(text)
    if not math.isfinite(number):
        raise ExpressionError(token.column, "the number is too large for a double; correct it")
    return number


def _too_deep(column: int) -> ExpressionError:
    return ExpressionError(
        column,
        f"is nested more than {_DEEPEST} levels deep; divide it, or write a helper",
    )


def _check_depth(expression: Expression) -> None:
    """Check the depth of the tree, which chains of operators also increase."""
    waiting = [(expression, 1)]
    while waiting:
        part, depth = waiting.pop()
        if depth > _DEEPEST:
            raise _too_deep(expression.column)
        waiting += ((child, depth + 1) for child in children(part))
