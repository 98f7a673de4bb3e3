"""Text and wrong versions of the expressions in descriptions of operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from dl_vendor_kit.library.expressions import (
    Call,
    Expression,
    Index,
    Items,
    Literal,
    Name,
    Operation,
    Temporary,
)
from dl_vendor_kit.library.model import Library


def render(expression: Expression) -> str:
    """Return the text of an expression."""
    match expression:
        case Name(name=name):
            return name
        case Temporary(name=name):
            return f"${name}"
        case Literal(value=value):
            words = {None: "null", True: "true", False: "false"}
            if value is None or isinstance(value, bool):
                return words[value]
            return repr(value)
        case Items(items=items):
            return f"[{', '.join(map(render, items))}]"
        case Index(of=of, index=index):
            return f"{render(of)}[{render(index)}]"
        case Call(function=function, helper=helper, arguments=arguments):
            mark = "@" if helper else ""
            if helper and not arguments:
                return f"@{function}"
            return f"{mark}{function}({', '.join(map(render, arguments))})"
        case Operation(operator=operator, operands=operands):
            if len(operands) == 1:
                space = " " if operator == "not" else ""
                return f"({operator}{space}{render(operands[0])})"
            return f"({f' {operator} '.join(map(render, operands))})"
    raise TypeError(f"{expression!r} is not an expression")


def wrong_versions(library: Library, expression: Expression) -> Iterator[tuple[str, Expression]]:
    """Return the kind of mistake and the expression with one wrong part, for all parts."""
    yield from _of_part(library, expression)
    for part, rebuild in _children(expression):
        for kind, wrong in wrong_versions(library, part):
            yield kind, rebuild(wrong)


def _same_signature(library: Library, call: Call) -> list[str]:
    """Return the helpers that take and return the same kinds."""
    own = library.helpers.get(call.function)
    if own is None:
        return []
    return [
        name
        for name, other in library.helpers.items()
        if name != call.function and (other.takes, other.returns) == (own.takes, own.returns)
    ]


def _of_part(library: Library, expression: Expression) -> Iterator[tuple[str, Expression]]:
    match expression:
        case Literal(value=bool() as value):
            yield "wrong boolean", replace(expression, value=not value)
        case Literal(value=int() | float() as value):
            yield "wrong number", replace(expression, value=value + 1)
        case Literal(value=str() as value):
            yield "wrong text", replace(expression, value=value + "_")
        case Operation(operator="-", operands=(operand,)):
            yield "dropped sign", operand
        case Operation(operator="not", operands=(operand,)):
            yield "dropped not", operand
        case Operation(operator="=="):
            yield "negated comparison", replace(expression, operator="!=")
        case Operation(operator="-" | "/", operands=(left, right)):
            yield "exchanged operands", replace(expression, operands=(right, left))
        case Items(items=items):
            yield "exchanged list", replace(expression, items=(*reversed(items),))
        case Call(arguments=arguments):
            for name in _same_signature(library, expression):
                yield "wrong helper", replace(expression, function=name)
            for i in range(len(arguments) - 1):
                order = list(arguments)
                order[i], order[i + 1] = order[i + 1], order[i]
                yield "exchanged arguments", replace(expression, arguments=tuple(order))
            for i in range(len(arguments)):
                kept = arguments[:i] + arguments[i + 1 :]
                yield "dropped argument", replace(expression, arguments=kept)
            if len(arguments) == 1 and not expression.helper:
                yield "dropped view", arguments[0]


def _children(expression: Expression) -> Iterator[tuple[Expression, Callable[..., Expression]]]:
    match expression:
        case Call(arguments=parts):
            field = "arguments"
        case Items(items=parts):
            field = "items"
        case Operation(operands=parts):
            field = "operands"
        case _:
            return
    for i, part in enumerate(parts):

        def rebuild(
            new: Expression,
            i: int = i,
            parts: tuple[Expression, ...] = parts,
            field: str = field,
        ) -> Expression:
            return replace(expression, **{field: (*parts[:i], new, *parts[i + 1 :])})  # type: ignore[arg-type]

        yield part, rebuild
