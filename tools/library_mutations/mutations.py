"""Seeded mutations of the descriptions of operators."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from dl_vendor_kit.library.expressions import (
    Call,
    Expression,
    ExpressionError,
    Index,
    Items,
    Literal,
    Name,
    Operation,
    Temporary,
    parse,
    parse_step,
)
from dl_vendor_kit.library.model import Case, Entry, Library, Text

_WORDS = {"if", "not", "and", "or", "in", "null", "true", "false"}


@dataclass(frozen=True, slots=True)
class Mutation:
    """One wrong description.

    :ivar kind: the kind of mistake.
    :ivar entry: the changed operator.
    :ivar change: the text before and after.
    """

    kind: str
    entry: Entry
    change: str

    @property
    def name(self) -> str:
        """Return the operator and the change."""
        return f"{self.entry.name}: {self.kind}: {self.change}"


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


def _variants(library: Library, expression: Expression) -> Iterator[tuple[str, Expression]]:
    """Return wrong versions of one part of an expression."""
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
        case Operation(operator="==", operands=operands):
            yield "negated comparison", replace(expression, operator="!=")
            del operands
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


def _everywhere(library: Library, expression: Expression) -> Iterator[tuple[str, Expression]]:
    yield from _variants(library, expression)
    for part, rebuild in _children(expression):
        for kind, wrong in _everywhere(library, part):
            yield kind, rebuild(wrong)


def _of_call(library: Library, text: Text) -> Iterator[tuple[str, Text]]:
    try:
        step = parse_step(text.text)
    except ExpressionError:
        return
    tail = "" if step.condition is None else f" if {render(step.condition)}"
    right = render(step.call)
    for kind, wrong in _everywhere(library, step.call):
        # An exchange of equal parts changes nothing.
        if render(wrong) != right:
            yield kind, replace(text, text=render(wrong) + tail)
    if step.condition is not None:
        yield "dropped if", replace(text, text=render(step.call))
        negated = f"{render(step.call)} if not {render(step.condition)}"
        yield "negated if", replace(text, text=negated)
    arguments = step.call.arguments
    names = sorted({x.name for x in arguments if isinstance(x, Name)})
    for i, argument in enumerate(arguments):
        for other in names:
            if isinstance(argument, Name) and argument.name != other:
                wrong_call = replace(
                    step.call, arguments=(*arguments[:i], Name(0, other), *arguments[i + 1 :])
                )
                yield "wrong parameter", replace(text, text=render(wrong_call) + tail)
    signature = library.functions.get(step.call.function)
    if signature is not None:
        types = [x.type for x in signature.arguments]
        for name, other_function in library.functions.items():
            if name != signature.name and [x.type for x in other_function.arguments] == types:
                wrong_call = replace(step.call, function=name)
                yield "wrong function", replace(text, text=render(wrong_call) + tail)


def _names(text: Text) -> set[str]:
    """Return the parameters and temporaries of a call; without a common one, order is free."""
    return set(re.findall(r"\$?\b[a-z_]\w*\b(?!\()", text.text)) - _WORDS


def _of_case(library: Library, case: Case) -> Iterator[tuple[str, str, Case]]:
    for i, text in enumerate(case.calls):
        for kind, wrong in _of_call(library, text):
            calls = (*case.calls[:i], wrong, *case.calls[i + 1 :])
            yield kind, f"{text.text} -> {wrong.text}", replace(case, calls=calls)
    for i in range(len(case.calls)):
        if len(case.calls) > 1:
            calls = case.calls[:i] + case.calls[i + 1 :]
            yield "dropped call", case.calls[i].text, replace(case, calls=calls)
        if i + 1 < len(case.calls) and _names(case.calls[i]) & _names(case.calls[i + 1]):
            order = list(case.calls)
            order[i], order[i + 1] = order[i + 1], order[i]
            change = f"{order[i + 1].text} after {order[i].text}"
            yield "exchanged calls", change, replace(case, calls=tuple(order))
    if case.when is not None:
        yield "dropped when", case.when.text, replace(case, when=None)
        try:
            condition = parse(case.when.text)
        except ExpressionError:
            return
        negated = replace(case.when, text=f"not {render(condition)}")
        yield "negated when", case.when.text, replace(case, when=negated)
    for name in case.format:
        kept = {key: value for key, value in case.format.items() if key != name}
        yield "dropped format", name, replace(case, format=kept)
    for text in case.contiguous:
        kept_texts = tuple(x for x in case.contiguous if x is not text)
        yield "dropped contiguous", text.text, replace(case, contiguous=kept_texts)
    for text in case.unused:
        kept_texts = tuple(x for x in case.unused if x is not text)
        yield "dropped unused", text.text, replace(case, unused=kept_texts)
    for name, text in case.temporaries.items():
        changed = re.sub(r"^(float32|int32|int64|dtype\(\w+\))", "int16", text.text)
        if changed == text.text:
            changed = f"int16 {text.text}" if text.text.startswith("like ") else f"{text.text} + 1"
        wrong_all = {**case.temporaries, name: replace(text, text=changed)}
        yield "wrong temporary", f"{text.text} -> {changed}", replace(case, temporaries=wrong_all)


def mutations(library: Library, entry: Entry) -> Iterator[Mutation]:
    """Return all mutations of an operator."""
    for i, case in enumerate(entry.cases):
        for kind, change, wrong in _of_case(library, case):
            cases = (*entry.cases[:i], wrong, *entry.cases[i + 1 :])
            yield Mutation(kind, replace(entry, cases=cases), change)


def draw(library: Library, entries: list[Entry], count: int, seed: int) -> list[Mutation]:
    """Draw mutations, the same for a seed, evenly over the kinds of mistakes."""
    by_kind: dict[str, list[Mutation]] = {}
    for entry in entries:
        for mutation in mutations(library, entry):
            by_kind.setdefault(mutation.kind, []).append(mutation)
    generator = random.Random(seed)
    for drawn in by_kind.values():
        generator.shuffle(drawn)
    chosen: list[Mutation] = []
    while len(chosen) < count and any(by_kind.values()):
        for kind in sorted(by_kind):
            if by_kind[kind] and len(chosen) < count:
                chosen.append(by_kind[kind].pop())
    return chosen
