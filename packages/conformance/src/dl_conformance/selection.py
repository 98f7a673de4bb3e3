"""Selection of the cases to run."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from shlex import quote

from diopi_proto.dtypes import DTYPES
from diopi_proto.schema import load

from .case import Case
from .catalog import cases_of, cases_of_files, in_sample
from .checks.check import SUBJECT, checks, chosen_by
from .expression import Expression, ExpressionError, parse
from .mixed import operand_dtypes
from .models.model import all_models
from .near import format_suggestions, near_cases, near_operators

_ONLY, _SKIP = "--only-dtype", "--skip-dtype"
MOST = 4
"""Maximum number of values of an option that messages show."""


class SelectionError(Exception):
    """An option is malformed, or selects nothing."""


@dataclass(frozen=True)
class Selection:
    """Cases that the options of a run select.

    :ivar expression: ``-k`` expression on names of cases; see :mod:`.expression`.
    :ivar operators: names or patterns, with or without ``diopi``.
    :ivar dtypes: dtypes of the cases.
    :ivar skipped_dtypes: dtypes that no case and no operand of a mixed call may have.
    :ivar layout: the only layout to select.
    :ivar models: models whose calls are selected.
    :ivar parts: number of random parts, one of which ``seed`` selects.
    :ivar names: the only names to select.
    :ivar failed: names that failed in an earlier run; the only ones to select.
    :ivar files: additional case files.
    :ivar promised: dtypes by operator that a profile promises. A call with operands of several
        dtypes is promised if each dtype is.
    """

    expression: str = ""
    operators: Sequence[str] = ()
    dtypes: Sequence[str] = ()
    skipped_dtypes: Sequence[str] = ()
    layout: str = ""
    models: Sequence[str] = ()
    parts: int = 1
    seed: int = 0
    names: frozenset[str] | None = None
    failed: frozenset[str] | None = None
    files: Sequence[str] = ()
    promised: Mapping[str, Sequence[str]] | None = None

    def checks(self) -> list[str]:
        """Return the selected runtime checks; options that apply only to cases select none.

        :raises SelectionError: an option is malformed, or names something unknown.
        """
        self._check()
        narrowed = self.dtypes or self.layout or self.models or self.promised is not None
        if narrowed or not chosen_by(list(self.operators)):
            return []
        return [name for name in checks() if self._named(name) and self._parsed.means(name)]

    def cases(self) -> Iterator[Case]:
        """Yield the selected cases in the order of the contract, then those of files.

        :raises SelectionError: an option is malformed, or names something unknown.
        :raises CaseFileError: a file is invalid.
        """
        self._check()
        operators = self._operators()
        for operator in operators:
            for case in cases_of(operator):
                if self._chosen(case):
                    yield case
        for case in cases_of_files(self.files).values():
            if case.operator in operators and self._chosen(case):
                yield case

    def options(self) -> dict[str, str]:
        """Return the given options that narrow the selection, by field."""
        return {
            field: shown(self)
            for field, shown in SHOWN.items()
            # Parsed options are lists, which never equal the default tuple.
            if getattr(self, field) not in (getattr(Selection, field), [])
        }

    def text(self) -> str:
        """Return the options that determine the selected cases, as given."""
        files = [_repeated("--cases", self.files)] if self.files else []
        return " ".join([*self.options().values(), *files]) or "all cases"

    def _named(self, name: str) -> bool:
        return all(given is None or name in given for given in (self.names, self.failed))

    @cached_property
    def _parsed(self) -> Expression:
        try:
            return parse(self.expression)
        except ExpressionError as error:
            raise SelectionError(str(error)) from None

    def _check(self) -> None:
        self._parsed  # noqa: B018 - raises if the expression is malformed
        for option, dtypes in ((_ONLY, self.dtypes), (_SKIP, self.skipped_dtypes)):
            for dtype in dtypes:
                if dtype not in DTYPES:
                    raise SelectionError(
                        f"{option} {quote(dtype)}: unknown dtype; the contract has "
                        f"{', '.join(DTYPES)}"
                    )
        for name in self.models:
            if name not in all_models():
                near = format_suggestions(get_close_matches(name, [*all_models()]))
                raise SelectionError(
                    f"--model {name}: unknown model{near}; --list-models prints all names"
                )
        for name in sorted(self.names or ()):
            if not self._is_there(name):
                near = format_suggestions(near_cases(name))
                raise SelectionError(f"--case {quote(name)}: unknown case{near}")

    def _is_there(self, name: str) -> bool:
        operator = name.partition("[")[0]
        return (
            name in checks()
            or (operator in load() and any(case.name == name for case in cases_of(operator)))
            or name in cases_of_files(self.files)
        )

    def _operators(self) -> list[str]:
        operators = self._matching()
        # The cases of all operators take seconds to list, and minutes on an emulated processor.
        for names in (self.names, self.failed):
            if names is not None:
                having = {name.partition("[")[0] for name in names}
                operators = [x for x in operators if x in having]
        return operators

    def _matching(self) -> list[str]:
        if not self.operators:
            return list(load())
        found: list[str] = []
        for pattern in self.operators:
            matching = [x for x in load() if _matches(x, pattern)]
            if not matching and not fnmatch.fnmatchcase(SUBJECT, pattern):
                near = format_suggestions(near_operators(pattern))
                raise SelectionError(f"--fname {pattern}: the contract has no such operator{near}")
            found += [x for x in matching if x not in found]
        return found

    def _chosen(self, case: Case) -> bool:
        return (
            (not self.dtypes or case.dtype in self.dtypes)
            and not (self.skipped_dtypes and self._skips(case))
            and (not self.layout or case.layout == self.layout)
            and (not self.models or not set(self.models).isdisjoint(case.models))
            and self._named(case.name)
            and (self.promised is None or self._covers(case, self.promised))
            and self._parsed.means(case.name)
            and in_sample(case.name, self.parts, self.seed)
        )

    def _skips(self, case: Case) -> bool:
        return not operand_dtypes(case).union([case.dtype]).isdisjoint(self.skipped_dtypes)

    @staticmethod
    def _covers(case: Case, promised: Mapping[str, Sequence[str]]) -> bool:
        """Return True if the dtypes of all operands are promised, so that they can be mixed."""
        dtypes = promised.get(case.operator, ())
        return case.dtype in dtypes and operand_dtypes(case).issubset(dtypes)


SHOWN: Mapping[str, Callable[[Selection], str]] = {
    "operators": lambda x: _repeated("--fname", x.operators),
    "dtypes": lambda x: _repeated(_ONLY, x.dtypes),
    "skipped_dtypes": lambda x: _repeated(_SKIP, x.skipped_dtypes),
    "layout": lambda x: "--nhwc",
    "models": lambda x: _repeated("--model", x.models),
    "names": lambda x: _repeated("--case", sorted(x.names or ())),
    "failed": lambda x: "--rerun-failed",
    "promised": lambda x: "--profile",
    "expression": lambda x: f"-k {quote(x.expression)}",
    "parts": lambda x: f"--sample {x.parts}/{x.seed}",
}
"""Functions that format the options of a selection, by field."""


def _repeated(option: str, values: Sequence[str]) -> str:
    more = f" and {len(values) - MOST} more" if len(values) > MOST else ""
    return " ".join(f"{option} {quote(x)}" for x in values[:MOST]) + more


def _matches(operator: str, pattern: str) -> bool:
    names = (operator, operator.removeprefix("diopi"), operator.removeprefix("dlop"))
    return any(fnmatch.fnmatchcase(name, pattern) for name in names)


def sample_of(text: str) -> tuple[int, int]:
    """Parse ``N`` or ``N/SEED`` to ``(parts, seed)``.

    :raises SelectionError: the text has neither form.
    """
    match = re.fullmatch(r"(\d+)(?:/(\w+))?", text)
    if match is None or int(match[1]) < 1:
        raise SelectionError(f"--sample {text}: expected N or N/SEED, such as 10/7")
    seed = match[2] or "0"
    return int(match[1]), int(seed) if seed.isdecimal() else int.from_bytes(seed.encode(), "big")
