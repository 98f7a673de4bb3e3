"""Types and C++ code of expressions.

:func:`lower` returns the kind of an expression and the C++ code that computes it, and raises
:class:`ExpressionError` with the column of the part that does not fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from diopi_proto.schema import DTYPES

from .expressions import (
    Call,
    Expression,
    ExpressionError,
    Index,
    Items,
    Literal,
    Name,
    Operation,
    Temporary,
)
from .helpers import VIEWS, Helper
from .located import close_names

NS = "lib"  # alias of dl::kit::library in the generated sources
_NUMBERS = ("int", "double", "bool")
_NULLABLE = (
    *("tensor", "scalar", "ints", "string"),
    *("optional_int", "optional_double", "optional_bool"),
)


@dataclass(frozen=True, slots=True)
class Lowered:
    """An expression's kind and code.

    :ivar nullable: it may be NULL.
    :ivar roots: the parameters and temporaries whose memory a tensor shares, or that an action
        writes.
    :ivar reads: the parameters and temporaries that an action reads.
    """

    kind: str
    code: str
    nullable: bool = False
    roots: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Scope:
    """The names that an expression can use.

    :ivar present: names that are not NULL here, because of a condition.
    :ivar used: collects the names of all parameters that were looked up.
    """

    names: Mapping[str, Lowered]
    temporaries: Mapping[str, Lowered]
    helpers: Mapping[str, Helper]
    present: frozenset[str] = frozenset()
    used: set[str] = field(default_factory=set)

    def with_present(self, names: frozenset[str]) -> Scope:
        """Return a scope in which these names are known to be present."""
        return replace(self, present=self.present | names)


def quoted(text: str) -> str:
    """Return a C++ string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def lower(expression: Expression, scope: Scope) -> Lowered:
    """Return the kind and code of an expression.

    :raises ExpressionError: a name is unknown, or a kind does not fit.
    """
    match expression:
        case Literal(value=value):
            return _literal(value)
        case Name(name=name):
            return _name(expression, name, scope)
        case Temporary(name=name):
            if name not in scope.temporaries:
                hint = close_names(f"${name}", [f"${x}" for x in scope.temporaries])
                raise ExpressionError(
                    expression.column,
                    f"no temporary ${name} is declared before this use{hint}; declare it under "
                    "'temporaries' of the case",
                )
            return scope.temporaries[name]
        case Items(items=items):
            return _items(expression, items, scope)
        case Index(of=of, index=index):
            return _index(expression, of, index, scope)
        case Call():
            return _call(expression, scope)
        case Operation(operator=operator, operands=operands):
            return _operation(expression, operator, operands, scope)
    raise ExpressionError(expression.column, "is not an expression")


def _literal(value: int | float | str | bool | None) -> Lowered:
    if value is None:
        return Lowered("null", "nullptr", True)
    if isinstance(value, bool):
        return Lowered("bool", "true" if value else "false")
    if isinstance(value, int):
        return Lowered("int", f"int64_t{{{value}}}")
    if isinstance(value, float):
        return Lowered("double", repr(value))
    return Lowered("string", quoted(value))


def _name(expression: Expression, name: str, scope: Scope) -> Lowered:
    if name in scope.names:
        scope.used.add(name)
        found = scope.names[name]
        return replace(found, nullable=False) if name in scope.present else found
    if name in DTYPES:
        return Lowered("dtype", f"{NS}::Dtype{{diopi_dtype_{name}}}")
    hint = close_names(name, [*scope.names, *DTYPES])
    raise ExpressionError(
        expression.column,
        f"{name!r} is not a parameter of the operator; its parameters are "
        f"{', '.join(scope.names)}{hint}; write texts as 'sum', temporaries as $t and helpers as "
        "@mask",
    )


def _items(expression: Expression, items: tuple[Expression, ...], scope: Scope) -> Lowered:
    lowered = [lower(item, scope) for item in items]
    kinds = {x.kind for x in lowered}
    codes = ", ".join(x.code for x in lowered)
    if kinds <= {"int"}:
        return Lowered("ints", f"{NS}::Ints{{{codes}}}")
    if kinds == {"bool"}:
        return Lowered("bools", f"{NS}::Bools{{{codes}}}")
    if kinds == {"tensor"}:
        for item, each in zip(items, lowered, strict=True):
            if each.nullable:
                raise ExpressionError(item.column, "may be NULL; a list needs all of its tensors")
        roots = frozenset().union(*(x.roots for x in lowered))
        return Lowered("tensors", f"{NS}::Views{{{codes}}}", False, roots)
    if kinds <= {"int", "double"}:
        return Lowered("doubles", f"{NS}::Doubles{{{codes}}}")
    raise ExpressionError(expression.column, "a list has integers, numbers, booleans or tensors")


def _index(expression: Expression, of: Expression, index: Expression, scope: Scope) -> Lowered:
    whole, at = lower(of, scope), lower(index, scope)
    if at.kind != "int":
        raise ExpressionError(index.column, "the index must be an integer")
    kinds = {"tensors": "tensor", "ints": "int", "bools": "bool", "doubles": "double"}
    if whole.kind not in kinds:
        raise ExpressionError(expression.column, f"a value of kind {whole.kind} has no entries")
    return Lowered(kinds[whole.kind], f"{NS}::at({whole.code}, {at.code})", False, whole.roots)


def _call(expression: Call, scope: Scope) -> Lowered:
    mark = "@" if expression.helper else ""
    helper = scope.helpers.get(expression.function)
    shown = f"{mark}{expression.function}"
    if helper is None:
        names = [name if name in VIEWS else f"@{name}" for name in scope.helpers]
        raise ExpressionError(
            expression.column,
            f"{shown} is not a helper or view{close_names(shown, names)}; correct the name, or "
            "declare a helper of your own under 'helpers' of library.yaml",
        )
    given = expression.arguments
    takes = list(helper.takes)
    if takes and takes[-1].endswith("*"):
        repeated = takes.pop().removesuffix("*")
        takes += [repeated] * (len(given) - len(takes))
    # Only the last arguments can be left out.
    least = max((i for i, kind in enumerate(takes, start=1) if not kind.endswith("?")), default=0)
    if not least <= len(given) <= len(takes):
        expected = f"({', '.join(helper.takes)})"
        raise ExpressionError(
            expression.column, f"{shown} takes {expected}, and {len(given)} arguments are given"
        )
    codes = ["call_"] if helper.context else []
    roots: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    nullable = False
    for position, (argument, full_kind) in enumerate(zip(given, takes, strict=False), start=1):
        kind = full_kind.removesuffix("&")
        lowered = lower(argument, scope)
        code = convert_kind(lowered, kind.removesuffix("?"))
        if code is None and not (lowered.kind == "null" and kind.endswith("?")):
            raise ExpressionError(
                argument.column,
                f"argument {position} of {shown} must be of kind {kind.removesuffix('?')}, "
                f"and this is of kind {lowered.kind}",
            )
        if lowered.nullable and not kind.endswith("?") and _guards(kind):
            raise ExpressionError(
                argument.column,
                f"argument {position} of {shown} may be NULL here; add a condition 'when'",
            )
        nullable = nullable or (lowered.nullable and kind.endswith("?"))
        codes.append(code if code is not None else _none(kind.removesuffix("?")))
        # A helper with the call's context returns new memory, or the memory of a slot.
        if helper.returns == "action":
            if full_kind.endswith("&"):
                roots |= lowered.roots
            else:
                reads |= lowered.roots
        # A view shares the memory of its first argument; `first` may return either.
        elif lowered.kind == "slot" or (
            not helper.context and (position == 1 or expression.function == "first")
        ):
            roots |= lowered.roots
    for kind in takes[len(given) :]:
        codes.append(_none(kind.removesuffix("?")))
    result_nullable = helper.returns == "tensor" and expression.function == "first" and nullable
    kept = roots if helper.returns in ("tensor", "tensors", "action") else frozenset()
    code = f"{helper.function}({', '.join(codes)})"
    return Lowered(helper.returns, code, result_nullable, kept, reads)


def _guards(kind: str) -> bool:
    """Return True if NULL is an error for this kind; lists of integers may be empty."""
    return kind in ("tensor", "scalar", "string")


def _none(kind: str) -> str:
    return {
        "tensor": f"{NS}::View{{}}",
        "scalar": f"{NS}::Scalar{{}}",
        "ints": f"{NS}::Ints{{}}",
        "int": "int64_t{-1}",
    }.get(kind, "nullptr")


def convert_kind(value: Lowered, kind: str) -> str | None:
    """Return the code of a value as another kind; None if it does not fit."""
    if value.kind == kind:
        return value.code
    if kind == "double" and value.kind == "int":
        return f"static_cast<double>({value.code})"
    if kind == "int" and value.kind == "bool":
        return f"int64_t{{{value.code}}}"
    if kind == "doubles" and value.kind == "ints":
        return f"{NS}::doubles_of({value.code})"
    return None


def _operation(
    expression: Expression, operator: str, operands: tuple[Expression, ...], scope: Scope
) -> Lowered:
    if operator in ("and", "or", "not"):
        return _logic(operator, operands, scope)
    if operator in ("in", "not in"):
        return _membership(operator, operands, scope)
    lowered = [lower(x, scope) for x in operands]
    if operator in ("==", "!=", "<", "<=", ">", ">="):
        return _comparison(expression, operator, lowered)
    for operand, value in zip(operands, lowered, strict=True):
        if value.kind not in ("int", "double"):
            raise ExpressionError(operand.column, f"arithmetic needs numbers, not {value.kind}")
    if len(lowered) == 1:
        return Lowered(lowered[0].kind, f"(-{lowered[0].code})")
    left, right = lowered
    whole = left.kind == right.kind == "int"
    if operator == "//":
        if not whole:
            raise ExpressionError(expression.column, "// divides integers; use /")
        return Lowered("int", f"{NS}::floor_divide({left.code}, {right.code})")
    if operator == "/" and whole:
        return Lowered("double", f"(static_cast<double>({left.code}) / {right.code})")
    return Lowered("int" if whole else "double", f"({left.code} {operator} {right.code})")


def _logic(operator: str, operands: tuple[Expression, ...], scope: Scope) -> Lowered:
    codes = []
    for operand in operands:
        codes.append(lower_condition(operand, scope))
        if operator == "and":
            scope = scope.with_present(present_if(operand))
        elif operator == "or" and isinstance(operand, Operation) and operand.operator == "not":
            # "not x or f(x)": x is present where f is computed.
            scope = scope.with_present(present_if(operand.operands[0]))
    if operator == "not":
        return Lowered("bool", f"(!{codes[0]})")
    joined = (" && " if operator == "and" else " || ").join(codes)
    return Lowered("bool", f"({joined})")


def lower_condition(expression: Expression, scope: Scope) -> str:
    """Return the code of a condition: a boolean, or a parameter that may be NULL.

    :raises ExpressionError: it is neither.
    """
    if isinstance(expression, Name) and expression.name in scope.names:
        declared = scope.names[expression.name]
        if declared.kind in _NULLABLE and declared.nullable:
            scope.used.add(expression.name)
            return f"{NS}::present({declared.code})"
    lowered = lower(expression, scope)
    if lowered.kind != "bool":
        raise ExpressionError(
            expression.column,
            f"a condition must be a boolean or a parameter that may be NULL, not {lowered.kind}",
        )
    return lowered.code


def present_if(expression: Expression | None) -> frozenset[str]:
    """Return the parameters that are not NULL if a condition holds."""
    match expression:
        case Name(name=name):
            return frozenset((name,))
        case Operation(operator="and", operands=operands):
            return frozenset().union(*map(present_if, operands))
    return frozenset()


def _membership(operator: str, operands: tuple[Expression, ...], scope: Scope) -> Lowered:
    value, listed = lower(operands[0], scope), operands[1]
    items = [lower(x, scope) for x in listed.items] if isinstance(listed, Items) else []
    if (
        not items
        or value.kind not in ("dtype", "int", "string")
        or any(item.kind != value.kind for item in items)
    ):
        raise ExpressionError(
            listed.column, f"'in' needs a list of values of kind {value.kind}, as in (1, 2)"
        )
    code = f"{NS}::among({value.code}, {{{', '.join(x.code for x in items)}}})"
    return Lowered("bool", code if operator == "in" else f"(!{code})")


def _comparison(expression: Expression, operator: str, lowered: list[Lowered]) -> Lowered:
    left, right = lowered
    if left.kind in _NUMBERS and right.kind in _NUMBERS:
        return Lowered("bool", f"({left.code} {operator} {right.code})")
    same = ("string", "dtype", "ints")
    if left.kind == right.kind and left.kind in same and operator in ("==", "!="):
        code = f"{NS}::equal({left.code}, {right.code})"
        return Lowered("bool", code if operator == "==" else f"(!{code})")
    raise ExpressionError(
        expression.column, f"{left.kind} and {right.kind} cannot be compared with {operator}"
    )
