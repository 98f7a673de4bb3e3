"""Seeded mutations of the descriptions of operators."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from dl_vendor_kit.library import emit, emit_functions
from dl_vendor_kit.library.arguments import targets
from dl_vendor_kit.library.check import check
from dl_vendor_kit.library.expressions import (
    Call,
    ExpressionError,
    Literal,
    Name,
    parse,
    parse_step,
)
from dl_vendor_kit.library.model import Case, Data, Entry, Library, Text

from .dtypes import can_be
from .effects import effects_of
from .expressions import render, wrong_versions

_DTYPE = re.compile(r"^(float32|int32|int64|dtype\(\w+\))")


@dataclass(frozen=True, slots=True)
class Mutation:
    """One wrong description.

    :ivar kind: the kind of mistake.
    :ivar entry: the changed operator.
    :ivar change: the text before and after.
    :ivar library: the changed facts about the library; None: they are unchanged.
    """

    kind: str
    entry: Entry
    change: str
    library: Library | None = None

    @property
    def name(self) -> str:
        """Return the operator and the change."""
        return f"{self.entry.name}: {self.kind}: {self.change}"


def code_of(library: Library, mutation: Mutation) -> str:
    """Return the C++ source of a mutated operator; empty if the generator refuses it."""
    checked = check(Data(mutation.library or library, [mutation.entry]))
    if checked.findings:
        return ""
    return emit.family_source(checked, mutation.entry.family, checked.entries)


def facts_of(mutation: Mutation) -> str:
    """Return the C++ source of changed facts about the library; empty if they are unchanged."""
    return "" if mutation.library is None else emit_functions.functions_source(mutation.library)


def _of_call(library: Library, text: Text) -> Iterator[tuple[str, Text]]:
    try:
        step = parse_step(text.text)
    except ExpressionError:
        return
    tail = "" if step.condition is None else f" if {render(step.condition)}"
    right = render(step.call)
    for kind, wrong in wrong_versions(library, step.call):
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


def _are_ordered(library: Library, first: Text, second: Text) -> bool:
    """Return True if the order of two calls matters."""
    one, two = effects_of(library, first), effects_of(library, second)
    return one is not None and two is not None and one.conflicts(two)


def _of_case(library: Library, case: Case) -> Iterator[tuple[str, str, Case]]:
    for i, text in enumerate(case.calls):
        number = f"call {i + 1}: " if len(case.calls) > 1 else ""
        for kind, wrong in _of_call(library, text):
            calls = (*case.calls[:i], wrong, *case.calls[i + 1 :])
            yield kind, f"{number}{text.text} -> {wrong.text}", replace(case, calls=calls)
        if number:
            calls = case.calls[:i] + case.calls[i + 1 :]
            yield "dropped call", f"{number}{text.text}", replace(case, calls=calls)
        if i + 1 < len(case.calls) and _are_ordered(library, text, case.calls[i + 1]):
            order = list(case.calls)
            order[i], order[i + 1] = order[i + 1], order[i]
            change = f"{number}{text.text} after {order[i].text}"
            yield "exchanged calls", change, replace(case, calls=tuple(order))
    if case.when is not None:
        yield "dropped when", case.when.text, replace(case, when=None)
        try:
            condition = parse(case.when.text)
        except ExpressionError:
            return
        negated = replace(case.when, text=f"not {render(condition)}")
        yield "negated when", case.when.text, replace(case, when=negated)
    yield from _of_keys(case)


def _of_keys(case: Case) -> Iterator[tuple[str, str, Case]]:
    """Return mutations of the other keys of a case."""
    for name in case.format:
        kept = {key: value for key, value in case.format.items() if key != name}
        yield "dropped format", name, replace(case, format=kept)
    for text in case.contiguous:
        kept_texts = tuple(x for x in case.contiguous if x is not text)
        yield "dropped contiguous", text.text, replace(case, contiguous=kept_texts)
    for text in case.upcast:
        kept_texts = tuple(x for x in case.upcast if x is not text)
        yield "dropped upcast", text.text, replace(case, upcast=kept_texts)
    for text in case.unused:
        kept_texts = tuple(x for x in case.unused if x is not text)
        yield "dropped unused", text.text, replace(case, unused=kept_texts)
    for name, text in case.temporaries.items():
        changed = _DTYPE.sub("int16", text.text)
        if changed == text.text:
            changed = f"int16 {text.text}" if text.text.startswith("like ") else f"{text.text} + 1"
        wrong_all = {**case.temporaries, name: replace(text, text=changed)}
        yield "wrong temporary", f"{text.text} -> {changed}", replace(case, temporaries=wrong_all)


def _of_facts(library: Library, entry: Entry) -> Iterator[tuple[str, str, Library]]:
    """Return mutations of the facts about the functions that an operator calls."""
    calls: dict[str, list[tuple[Case, Call]]] = {}
    for case in entry.cases:
        for text in case.calls:
            call = parse_step(text.text).call
            if not call.helper:
                calls.setdefault(call.function, []).append((case, call))
    for name, found in calls.items():
        function = library.functions.get(name)
        if function is None:
            continue
        given = [
            (target.argument.name, case, value)
            for case, call in found
            for target, value in zip(targets(library, function), call.arguments, strict=False)
            if value != Literal(value.column, None)
        ]
        names = {name for name, _, _ in given}
        floating = {
            name for name, case, value in given if can_be("float32", entry.name, case, value)
        }
        for i, argument in enumerate(function.arguments):
            wrong = []
            if not argument.strided:
                # Without it, the argument is not made contiguous.
                wrong.append(("missing contiguous", "", replace(argument, strided=True)))
            if (
                "float32" in argument.dtypes
                and len(argument.dtypes) > 1
                and argument.name in floating
            ):
                left = tuple(x for x in argument.dtypes if x != "float32")
                wrong.append(("wrong dtypes", " without float32", replace(argument, dtypes=left)))
            for kind, change, new in wrong:
                if argument.name in names:
                    arguments = (*function.arguments[:i], new, *function.arguments[i + 1 :])
                    changed = {name: replace(function, arguments=arguments)}
                    yield (
                        kind,
                        f"{name}, {argument.name}{change}",
                        replace(library, functions={**library.functions, **changed}),
                    )


def mutations(library: Library, entry: Entry) -> Iterator[Mutation]:
    """Return all mutations of an operator."""
    for i, case in enumerate(entry.cases):
        number = f"case {case.number}: " if len(entry.cases) > 1 else ""
        for kind, change, wrong in _of_case(library, case):
            cases = (*entry.cases[:i], wrong, *entry.cases[i + 1 :])
            yield Mutation(kind, replace(entry, cases=cases), f"{number}{change}")
    try:
        for kind, change, changed in _of_facts(library, entry):
            yield Mutation(kind, entry, change, changed)
    except ExpressionError:
        return


def draw(
    library: Library,
    entries: list[Entry],
    count: int,
    seed: int,
    excluded: Collection[str] = (),
) -> list[Mutation]:
    """Draw mutations, the same for a seed, evenly over the kinds of mistakes.

    :param excluded: names of mutations that are not drawn.
    """
    by_kind: dict[str, list[Mutation]] = {}
    for entry in entries:
        for mutation in mutations(library, entry):
            by_kind.setdefault(mutation.kind, []).append(mutation)
    generator = random.Random(seed)
    for drawn in by_kind.values():
        generator.shuffle(drawn)
    chosen: dict[str, Mutation] = {}
    while len(chosen) < count and any(by_kind.values()):
        for kind in sorted(by_kind):
            while by_kind[kind] and len(chosen) < count:
                mutation = by_kind[kind].pop()
                if mutation.name not in excluded and mutation.name not in chosen:
                    chosen[mutation.name] = mutation
                    break
    return [*chosen.values()]
