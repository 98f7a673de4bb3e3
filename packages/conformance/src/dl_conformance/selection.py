"""Which cases run."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from diopi_proto.schema import load

from .case import Case
from .catalog import cases_of, in_sample
from .checks.check import SUBJECT, checks, chosen_by
from .models.model import all_models


class SelectionError(Exception):
    """An option names nothing."""


@dataclass(frozen=True)
class Selection:
    """What the options of a run ask for.

    :ivar expression: words that are all in the name of a case; ``not`` before one: that is not.
    :ivar operators: names or patterns, with or without ``diopi``.
    :ivar dtypes: of the cases.
    :ivar layout: one layout only.
    :ivar models: calls of one of these.
    :ivar parts: one of so many parts, chosen by ``seed``.
    :ivar names: these and no others.
    :ivar promised: dtypes by operator, of a profile.
    """

    expression: str = ""
    operators: Sequence[str] = ()
    dtypes: Sequence[str] = ()
    layout: str = ""
    models: Sequence[str] = ()
    parts: int = 1
    seed: int = 0
    names: frozenset[str] | None = None
    promised: Mapping[str, Sequence[str]] | None = None

    def checks(self) -> list[str]:
        """The checks of what is no operator; options that choose among cases choose none."""
        narrowed = self.dtypes or self.layout or self.models or self.promised is not None
        if narrowed or not chosen_by(list(self.operators)):
            return []
        return [
            name
            for name in checks()
            if (self.names is None or name in self.names) and _expressed(name, self.expression)
        ]

    def cases(self) -> Iterator[Case]:
        """The cases, in the order of the contract.

        :raises SelectionError: an operator or a model that is asked for is none.
        """
        for name in self.models:
            if name not in all_models():
                raise SelectionError(f"--model {name}: --list-models prints the names of all")
        for operator in self._operators():
            for case in cases_of(operator):
                if self._chosen(case):
                    yield case

    def _operators(self) -> list[str]:
        if not self.operators:
            return list(load())
        found: list[str] = []
        for pattern in self.operators:
            matching = [x for x in load() if _matches(x, pattern)]
            if not matching and not fnmatch.fnmatchcase(SUBJECT, pattern):
                raise SelectionError(f"--fname {pattern}: the contract has no such operator")
            found += [x for x in matching if x not in found]
        return found

    def _chosen(self, case: Case) -> bool:
        return (
            (not self.dtypes or case.dtype in self.dtypes)
            and (not self.layout or case.layout == self.layout)
            and (not self.models or not set(self.models).isdisjoint(case.models))
            and (self.names is None or case.name in self.names)
            and (self.promised is None or case.dtype in self.promised.get(case.operator, ()))
            and _expressed(case.name, self.expression)
            and in_sample(case.name, self.parts, self.seed)
        )


def _matches(operator: str, pattern: str) -> bool:
    names = (operator, operator.removeprefix("diopi"), operator.removeprefix("dlop"))
    return any(fnmatch.fnmatchcase(name, pattern) for name in names)


def _expressed(name: str, expression: str) -> bool:
    wanted = True
    for word in re.split(r"\s+", expression.strip()) if expression.strip() else ():
        if word == "and":
            continue
        if word == "not":
            wanted = False
            continue
        if (word.lower() in name.lower()) is not wanted:
            return False
        wanted = True
    return True


def sample_of(text: str) -> tuple[int, int]:
    """``(parts, seed)`` of ``N`` or ``N/SEED``.

    :raises SelectionError: it is neither.
    """
    match = re.fullmatch(r"(\d+)(?:/(\w+))?", text)
    if match is None or int(match[1]) < 1:
        raise SelectionError(f"--sample {text}: want N or N/SEED, as in 10/7")
    seed = match[2] or "0"
    return int(match[1]), int(seed) if seed.isdecimal() else int.from_bytes(seed.encode(), "big")
