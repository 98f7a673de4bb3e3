"""Check of a case's calls and of the sizes of their workspaces."""

from __future__ import annotations

from functools import partial

from .arguments import Conversion, Target, convert, targets
from .case_state import CaseState, guard
from .checked import CheckedCall
from .conditions import check_condition
from .expressions import Expression, ExpressionError, parse_step
from .located import DataError, close_names, quote
from .lower import lower, present_if
from .lowered import Scope
from .model import Text
from .signatures import Function


def check_call(state: CaseState, text: Text, subject: str, scope: Scope) -> CheckedCall:
    """Return one call of a case.

    :raises DataError: it does not fit the operator or the function.
    """
    step = guard(text, subject, partial(parse_step, text.text))
    condition = None
    if step.condition is not None:
        scope = scope.with_present(present_if(step.condition))
        condition = guard(text, subject, partial(check_condition, state, step.condition, scope))
    if step.call.helper:
        action = guard(text, subject, lambda: lower(step.call, scope))
        if action.kind != "action":
            actions = [n for n, h in state.library.helpers.items() if h.returns == "action"]
            raise DataError(
                text.where,
                subject,
                f"@{step.call.function} is not an action: pass its value to a function, or "
                f"call one of {', '.join(f'@{name}' for name in actions)}",
            )
        inner = f"{subject}, @{step.call.function}"
        state.check_read(text, inner, action.reads, step.condition)
        state.write(text, inner, "an argument", action, step.condition)
        return CheckedCall(None, (action.code,), condition)
    function = state.function(step.call.function, text.where, subject)
    wanted = targets(state.library, function)
    given = step.call.arguments
    if len(given) != len(wanted):
        names = ", ".join(x.argument.name for x in wanted)
        raise DataError(
            text.where,
            subject,
            f"{function.name} takes {len(wanted)} arguments ({names}), and {len(given)} are "
            "given; give those",
        )
    codes = tuple(
        _argument(state, text, subject, function, target, expression, scope, step.condition)
        for target, expression in zip(wanted, given, strict=True)
    )
    return CheckedCall(function, codes, condition)


def check_workspace(
    state: CaseState,
    name: str,
    text: Text,
    subject: str,
    calls: tuple[CheckedCall, ...],
    scope: Scope,
) -> CheckedCall:
    """Return the call of a function, or the code of a helper, that gives the size of a workspace.

    :param name: the function that gets the workspace; empty: the only one of the case.
    :raises DataError: it does not return a size.
    """
    functions = [x.function.name for x in calls if x.function is not None]
    if name and name not in functions:
        raise DataError(
            text.where,
            subject,
            f"workspace: {quote(name)[1:-1]} is not called{close_names(name, functions)}; name a "
            f"function of the case's calls, which are {', '.join(functions) or 'none'}",
        )
    if not name and (len(calls) != 1 or len(functions) != 1):
        raise DataError(
            text.where,
            subject,
            "workspace: one size needs a case with one call; for several calls, write a "
            "mapping from the function to the size",
        )
    step = guard(text, subject, partial(parse_step, text.text))
    if step.condition is not None:
        raise DataError(
            text.where, subject, "workspace: a size has no condition; remove 'if' and what follows"
        )
    if not step.call.helper:
        sizing = check_call(state, text, f"{subject}, workspace", scope)
        kinds = [
            state.library.kind(x.type)
            for x in (sizing.function.arguments if sizing.function is not None else ())
        ]
        if "workspace_result" not in kinds:
            raise DataError(
                text.where,
                subject,
                "workspace: the function has no argument for the size; name a function with an "
                "argument of the kind workspace_result",
            )
        return sizing
    size = guard(text, subject, lambda: lower(step.call, scope))
    if size.kind != "int":
        raise DataError(
            text.where,
            subject,
            f"workspace: @{step.call.function} does not return an int; name a helper that does",
        )
    return CheckedCall(None, (size.code,), None)


def _argument(
    state: CaseState,
    text: Text,
    subject: str,
    function: Function,
    target: Target,
    expression: Expression,
    scope: Scope,
    condition: Expression | None,
) -> str:
    inner = f"{subject}, {function.name}, argument {target.argument.name}"

    def work() -> Conversion:
        value = lower(expression, scope)
        conversion = convert(value, target, state.library)
        if isinstance(conversion, str):
            raise ExpressionError(expression.column, conversion)
        return conversion

    conversion = guard(text, inner, work)
    _check_dtype(state, text, inner, target, conversion)
    if target.argument.needs_elements:
        state.check_read(text, inner, conversion.roots, condition, conversion.code)
    if target.argument.writes:
        state.write(text, inner, "this argument", conversion, condition)
    return conversion.code


def _check_dtype(
    state: CaseState, text: Text, subject: str, target: Target, value: Conversion
) -> None:
    documented = target.argument.dtypes
    for root in sorted(value.roots):
        dtype = state.dtype_of.get(root)
        if documented and dtype is not None and dtype not in documented:
            raise DataError(
                text.where,
                subject,
                f"{root} is {dtype}, and the library documents {', '.join(documented)}; give the "
                "temporary a documented dtype",
            )
