"""Parser for ``-k`` expressions: words, ``and``, ``or``, ``not`` and parentheses, as in pytest.

A word matches if the name contains it, ignoring case. Adjacent words are combined with ``and``.
A quoted word may contain spaces, parentheses and the words ``and``, ``or`` and ``not``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

TOKEN = re.compile(
    r"""(?P<quoted>"[^"]*"|'[^']*')|(?P<open>["'])|(?P<plain>[()]|[^\s()]+)""",
)
DEEPEST = 50
"""Maximum nesting depth of parentheses."""
Rule = Callable[[str], bool]
"""Predicate on a lowercase name."""


class ExpressionError(Exception):
    """A ``-k`` expression is malformed."""


@dataclass(frozen=True)
class Expression:
    """A parsed expression.

    :ivar words: all words of the expression that are not negated.
    """

    rule: Rule
    words: tuple[str, ...] = ()

    def means(self, name: str) -> bool:
        """Return True if the expression matches a name."""
        return self.rule(name.lower())


def parse(text: str) -> Expression:
    """Parse an expression; an empty one matches every name.

    :raises ExpressionError: the expression is malformed; the message has the text and the column.
    """
    if not text.strip():
        return Expression(lambda name: True)
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(TOKEN.finditer(text))
        self.at = 0
        self.depth = 0
        self.negated = False
        self.words: list[str] = []

    def whole(self) -> Expression:
        rule = self._either()
        if self._peek() is not None:
            raise self._wrong("this ')' has no matching '('")
        return Expression(rule, tuple(self.words))

    def _either(self) -> Rule:
        rules = [self._both()]
        while self._peek() == "or":
            self.at += 1
            rules.append(self._both())
        return rules[0] if len(rules) == 1 else lambda name: any(rule(name) for rule in rules)

    def _both(self) -> Rule:
        rules = [self._one()]
        while self._peek() not in (None, "or", ")"):
            if self._peek() == "and":
                self.at += 1
            rules.append(self._one())
        return rules[0] if len(rules) == 1 else lambda name: all(rule(name) for rule in rules)

    def _one(self) -> Rule:
        before, wanted = self.negated, True
        while self._peek() == "not":
            self.at += 1
            wanted = not wanted
        self.negated = before is wanted
        rule = self._grouped() if self._peek() == "(" else self._word()
        self.negated = before
        return rule if wanted else lambda name: not rule(name)

    def _grouped(self) -> Rule:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._wrong(f"parentheses are nested more than {DEEPEST} deep")
        opened = self.at
        self.at += 1
        rule = self._either()
        if self._peek() != ")":
            self.at = opened
            raise self._wrong("this '(' is not closed")
        self.at += 1
        self.depth -= 1
        return rule

    def _word(self) -> Rule:
        if self._peek() in (None, "and", "or", ")"):
            found = repr(self._peek()) if self._peek() else "the end"
            raise self._wrong(f"expected a word, 'not' or '(', got {found}")
        token = self.tokens[self.at]
        if token["open"]:
            raise self._wrong("this quote is not closed")
        word = token["quoted"][1:-1] if token["quoted"] else token["plain"]
        self.at += 1
        if not self.negated:
            self.words.append(word)
        small = word.lower()
        return lambda name: small in name

    def _peek(self) -> str | None:
        """Return the next token, or None at the end."""
        return self.tokens[self.at][0] if self.at < len(self.tokens) else None

    def _wrong(self, message: str) -> ExpressionError:
        column = self.tokens[self.at].start() if self.at < len(self.tokens) else len(self.text)
        return ExpressionError(f"-k {self.text!r}: column {column + 1}: {message}")
