"""Types and C++ code of expressions.

:func:`lower` returns the kind of an expression and the C++ code that computes it, and raises
:class:`ExpressionError` with the column of the part that does not fit.
"""

from __future__ import annotations

from dataclasses import replace

from diopi_proto.schema import DTYPES

from .arithmetic import COMPARISONS, calculate, compare, name_values
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
from .helper_calls import call_helper
from .located import close_names, quote
from .lowered import NS, Lowered, Scope, convert_kind
from .names import quoted

_NULLABLE = (
    *("tensor", "scalar", "ints", "string"),
    *("optional_int", "optional_double", "optional_bool"),
)


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
            return call_helper(expression, scope, lambda argument: lower(argument, scope))
        case Operation(operator=operator, operands=operands):
            return _operation(expression, operator, operands, scope)
    raise ExpressionError(expression.column, "is not an expression")


def _literal(value: int | float | str | bool | None) -> Lowered:
    if value is None:
        return Lowered("null", "nullptr", True)
    if isinstance(value, bool):
        return Lowered("bool", "true" if value else "false")
    if isinstance(value, int):
        return Lowered("int", f"int64_t{{{value}}}", constant=value)
    if isinstance(value, float):
        return Lowered("double", repr(value), constant=value)
    return Lowered("string", quoted(value), text=value)


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
        f"{quote(name)} is not a parameter of the operator; its parameters are "
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
                raise ExpressionError(
                    item.column,
                    "may be NULL, and a list needs all of its tensors; add a condition 'when'",
                )
        roots = frozenset().union(*(x.roots for x in lowered))
        parts = frozenset().union(*(x.parts for x in lowered))
        return Lowered("tensors", f"{NS}::Views{{{codes}}}", False, roots, parts=parts)
    if kinds <= {"int", "double"}:
        codes = ", ".join(convert_kind(x, "double") or "" for x in lowered)
        return Lowered("doubles", f"{NS}::Doubles{{{codes}}}")
    raise ExpressionError(
        expression.column, "a list has numbers, booleans or tensors; write entries of one kind"
    )


def _index(expression: Expression, of: Expression, index: Expression, scope: Scope) -> Lowered:
    whole, at = lower(of, scope), lower(index, scope)
    if at.kind != "int":
        raise ExpressionError(
            index.column, f"the index must be an integer, not {at.kind}; write one, such as 0"
        )
    kinds = {"tensors": "tensor", "ints": "int", "bools": "bool", "doubles": "double"}
    if whole.kind not in kinds:
        raise ExpressionError(
            expression.column, f"a value of kind {whole.kind} has no entries; write a list before ["
        )
    code = f"{NS}::at({whole.code}, {at.code})"
    return Lowered(kinds[whole.kind], code, False, whole.roots, parts=whole.roots)


def _operation(
    expression: Expression, operator: str, operands: tuple[Expression, ...], scope: Scope
) -> Lowered:
    if operator in ("and", "or", "not"):
        return _logic(operator, operands, scope)
    if operator in ("in", "not in"):
        return _membership(operator, operands, scope)
    lowered = [lower(x, scope) for x in operands]
    if operator in COMPARISONS:
        return compare(expression, operator, lowered)
    return calculate(expression, operator, operands, lowered)


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
            f"a condition must be a boolean or a parameter that may be NULL, not {lowered.kind}; "
            "compare the value, as in x > 0",
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
    items = name_values(listed, [value, *items])[1:]
    if (
        not items
        or value.kind not in ("dtype", "int", "string")
        or any(item.kind != value.kind for item in items)
    ):
        raise ExpressionError(
            listed.column, f"'in' needs a list of values of kind {value.kind}, as in (1, 2)"
        )
    if value.values and {item.text for item in items} >= set(value.values):
        raise ExpressionError(
            listed.column, f"lists all values of {value.code}; remove the comparison"
        )
    code = f"{NS}::among({value.code}, {{{', '.join(x.code for x in items)}}})"
    return Lowered("bool", code if operator == "in" else f"(!{code})")
