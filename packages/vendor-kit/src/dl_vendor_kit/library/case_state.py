"""State of the check of one case: the names that it uses and writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from diopi_proto.schema import Operator, Parameter

from .expressions import ExpressionError
from .located import DataError, Place, close_names, quote, shorten
from .lowered import Lowered
from .model import Library, Text
from .parameters import is_input, kind_of, values_of
from .signatures import Function
from .syntax import Expression
from .writes import Writes

_T = TypeVar("_T")
_SHOWN = 80
"""Characters of an expression in a message."""


class Written(Protocol):
    """An argument that a call writes: its code, and the memory that it refers to.

    :ivar parts: the roots of which only a part is written.
    """

    @property
    def code(self) -> str: ...
    @property
    def roots(self) -> frozenset[str]: ...
    @property
    def parts(self) -> frozenset[str]: ...


class CaseState:
    """The operator of a case, and the names that the case uses and writes.

    :ivar kinds: kinds of the operator's parameters; None: expressions cannot use it.
    :ivar used: parameters that the case uses.
    :ivar writes: parameters and temporaries that it writes.
    :ivar dtype_of: temporaries whose dtype is known.
    :ivar repeats: the calls are repeated by ``each``.
    """

    def __init__(self, library: Library, operator: Operator) -> None:
        self.library = library
        self.operator = operator
        self.parameters = operator.params[1:]
        self.kinds = {p.name: kind_of(p) for p in self.parameters}
        self.used: set[str] = set()
        self.writes = Writes()
        self.dtype_of: dict[str, str] = {}
        self.repeats = False

    def names(self) -> dict[str, Lowered]:
        """Return the parameters that expressions can use."""
        found = {}
        for p in self.parameters:
            kind = self.kinds[p.name]
            if kind is None:
                continue
            roots = frozenset((p.name,)) if kind in ("tensor", "tensors", "slot") else frozenset()
            nullable = p.nullable or kind.startswith("optional_")
            found[p.name] = Lowered(kind, p.name, nullable, roots, values=values_of(p))
        return found

    def function(self, name: str, where: Place, subject: str) -> Function:
        """Return a function of the library.

        :raises DataError: the signature table does not have it.
        """
        function = self.library.functions.get(name)
        if function is None:
            hint = close_names(name, self.library.functions)
            raise DataError(
                where,
                subject,
                f"{shorten(name)} is not in the signature table{hint}; correct the name, or add "
                f"the function to {self.library.table}",
            )
        return function

    def has_dtype_of(self, name: str, other: str) -> bool:
        """Return True if the contract gives two tensors the same dtype."""
        return self._dtype_source(name) == self._dtype_source(other)

    def _dtype_source(self, name: str) -> str:
        """Return the tensor whose dtype the contract gives to a tensor, or the tensor itself."""
        parameter = self._find(name)
        rule = "" if parameter is None or parameter.dtype is None else parameter.dtype
        like = rule.removeprefix("like ")
        tensors = ("tensor", "tensors")
        is_checked = like != rule and {self.kinds.get(name), self.kinds.get(like)} <= {*tensors}
        return self._dtype_source(like) if is_checked else name

    def check_tensor(
        self,
        key: str,
        name: str,
        where: Place,
        subject: str,
        kinds: tuple[str, ...] = ("tensor", "tensors"),
    ) -> None:
        """Check that a name is one of the operator's tensors."""
        if self.kinds.get(name) not in kinds:
            known = [each for each, kind in self.kinds.items() if kind in kinds]
            raise DataError(where, subject, f"{key}: {unknown_name(name, 'a tensor', known)}")

    def write(
        self,
        text: Text,
        subject: str,
        what: str,
        written: Written,
        condition: Expression | None,
    ) -> None:
        """Record what a call with a condition writes.

        :raises DataError: the operator may not write it.
        """
        for root in sorted(written.roots):
            parameter = self._find(root)
            if parameter is not None and is_input(parameter):
                raise DataError(
                    text.where,
                    subject,
                    f"the function writes {what}, and {root} is an input of the operator; pass an "
                    "output or a temporary",
                )
        # Repeated calls and conditions select the parts that together are the whole tensor.
        whole = self.repeats or condition is not None
        parts = frozenset() if whole else written.parts
        self.writes.add(written.roots - parts, condition)
        for part in parts:
            self.writes.add_part(part, written.code)

    def check_read(
        self,
        text: Text,
        subject: str,
        roots: frozenset[str],
        condition: Expression | None,
        code: str = "",
    ) -> None:
        """Check that what a call with a condition reads was written.

        :param code: the argument's code, which is also that of a part that was written.
        """
        for root in sorted(roots):
            parameter = self._find(root)
            is_fresh = parameter is not None and parameter.direction == "out"
            if not is_fresh and not root.startswith("$"):
                continue
            if root not in self.writes:
                raise DataError(
                    text.where,
                    subject,
                    f"the function reads {root}, whose elements no earlier call has written; write "
                    "them first, or pass an input",
                )
            if self.writes.is_part(root, code):
                raise DataError(
                    text.where,
                    subject,
                    f"the function reads {root}, of which earlier calls write only one part; write "
                    "the rest as well, or read the same part",
                )
            if not self.writes.is_certain(root, condition):
                raise DataError(
                    text.where,
                    subject,
                    f"the function reads {root}, which earlier calls write only under a condition; "
                    "read it under the same one, or write it under the opposite one as well",
                )

    def _find(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.name == name), None)


def unknown_name(name: str, what: str, known: Iterable[str]) -> str:
    """Return the reason why a name is not one of the known parameters."""
    names = list(known)
    if not names:
        return f"{quote(name)} is not {what}, and the operator has none; remove it"
    return f"{quote(name)} is not {what}{close_names(name, names)}; choose from {', '.join(names)}"


def guard(text: Text, subject: str, work: Callable[[], _T]) -> _T:
    """Run ``work`` and turn an ExpressionError into a finding with the place of its column."""
    try:
        return work()
    except ExpressionError as error:
        where = Place(text.where.file, text.where.line, text.where.column + error.column)
        part = text.text[error.column : error.column + 24]
        near = f" (at {part!r})" if part and part != text.text else ""
        raise DataError(
            where, subject, f"{_excerpt(text.text, error.column)}: {error}{near}"
        ) from error


def _excerpt(text: str, column: int) -> str:
    """Return an expression in quotes; of a long one, the part around a column."""
    if len(text) <= _SHOWN:
        return repr(text)
    start = max(0, min(column - _SHOWN // 2, len(text) - _SHOWN))
    end = start + _SHOWN
    return f"{'…' if start else ''}{text[start:end]!r}{'…' if end < len(text) else ''}"
