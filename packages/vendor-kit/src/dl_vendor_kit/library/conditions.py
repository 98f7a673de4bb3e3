"""Check of conditions: they must depend on the arguments of the operator."""

from __future__ import annotations

from .case_state import CaseState
from .expressions import (
    Call,
    Expression,
    ExpressionError,
    Literal,
    Name,
    Operation,
    Temporary,
)
from .lower import lower_condition
from .lowered import Scope
from .syntax import children


def check_condition(state: CaseState, expression: Expression, scope: Scope) -> str:
    """Return the code of a condition.

    :raises ExpressionError: it is invalid, or always the same.
    """
    code = lower_condition(expression, scope)
    if isinstance(expression, Literal):
        raise _constant(expression, bool(expression.value), "")
    if not _has_name(expression):
        raise ExpressionError(
            expression.column,
            "the condition does not depend on any argument; compare a parameter, or remove it",
        )
    _check_dtypes(state, expression)
    return code


def _has_name(expression: Expression) -> bool:
    """Return True if a condition reads a parameter, a temporary, or what a helper knows."""
    if isinstance(expression, Name | Temporary) or (
        isinstance(expression, Call) and expression.helper
    ):
        return True
    return any(_has_name(child) for child in children(expression))


def _check_dtypes(state: CaseState, expression: Expression) -> None:
    """Check that no comparison is about dtypes that the contract makes equal."""
    match expression:
        case Operation(operator="and" | "or" | "not", operands=operands):
            for operand in operands:
                _check_dtypes(state, operand)
        case Operation(
            operator="==" | "!=" as operator,
            operands=(
                Call(function="dtype", arguments=(Name(name=left),)),
                Call(function="dtype", arguments=(Name(name=right),)),
            ),
        ) if state.has_dtype_of(left, right):
            reason = f", because the contract gives {left} and {right} the same dtype"
            raise _constant(expression, operator == "==", reason)


def _constant(expression: Expression, value: bool, reason: str) -> ExpressionError:
    remedy = "remove it" if value else "remove the entry"
    word = "true" if value else "false"
    what = "comparison" if reason else "condition"
    return ExpressionError(expression.column, f"the {what} is always {word}{reason}; {remedy}")
