"""What ``-k`` takes: words, ``and``, ``or``, ``not`` and parentheses, as pytest's does.

A word is in a name or it is not, in either case of letters. Words side by side are all in it, as if
``and`` stood between them; one in quotes may hold spaces, parentheses and the names of operators.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

TOKEN = re.compile(
    r"""(?P<quoted>"[^"]*"|'[^']*')|(?P<open>["'])|(?P<plain>[()]|[^\s()]+)""",
)
DEEPEST = 50
"""Parentheses within each other."""
Rule = Callable[[str], bool]
"""Whether a name in small letters is meant."""


class ExpressionError(Exception):
    """It is no expression."""


@dataclass(frozen=True)
class Expression:
    """What was parsed.

    :ivar words: all that stand in it, without those under a ``not``.
    """

    rule: Rule
    words: tuple[str, ...] = ()

    def means(self, name: str) -> bool:
        """Whether it chooses a name."""
        return self.rule(name.lower())


def parse(text: str) -> Expression:
    """Read an expression; one of nothing but spaces chooses every name.

    :raises ExpressionError: it is malformed; the message has the text and the column.
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
            raise self._wrong("there is nothing that this ')' closes")
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
            raise self._wrong(f"there are more than {DEEPEST} parentheses within each other")
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
            raise self._wrong(f"want a word, 'not' or '(' and not {found}")
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
        """The next token; None at the end."""
        return self.tokens[self.at][0] if self.at < len(self.tokens) else None

    def _wrong(self, said: str) -> ExpressionError:
        column = self.tokens[self.at].start() if self.at < len(self.tokens) else len(self.text)
        return ExpressionError(f"-k {self.text!r}: column {column + 1}: {said}")
