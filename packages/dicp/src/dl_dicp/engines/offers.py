"""Offers of calls to a graph engine: consecutive accepted calls become one step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from dl_dicp.engines.interface import GraphEngine, takes_symbols
from dl_dicp.program.document import FIXED, Scope, build
from dl_dicp.program.specialized import specialize
from dl_dicp.recording.calls import GENERATOR, Call
from dl_dicp.recording.memory import Block, Ref
from dl_dicp.recording.shapes import Sizes
from dl_dicp.recording.trace import Host, Lowered, Trace, refs_in


class Offered(Lowered):
    """Consecutive calls that an engine has accepted."""


def offer_calls(
    trace: Trace,
    engine: GraphEngine,
    given: set[Block],
    scope: Scope = FIXED,
    example: Sizes | None = None,
) -> list[Lowered | Host]:
    """Return the steps of a trace, with accepted calls in steps of class :class:`Offered`.

    :param given: blocks that were created before the trace.
    :param scope: the sizes that the trace serves.
    :param example: sizes at which calls are offered to an engine that does not take symbols.
    :raises ValueError: the length of the engine's answer is not the number of calls.
    """
    steps: list[Lowered | Host] = []
    earlier = set(given)
    sizes = None if takes_symbols(engine) or not scope.ranges else example or {}
    for lowered, group in groupby(enumerate(trace.steps), lambda x: isinstance(x[1], Lowered)):
        members = list(group)
        if not lowered:
            steps += [step for _, step in members]
            continue
        calls = [call for _, step in members for call in step.calls]  # type: ignore[union-attr]
        kept = _used_later(trace, members[-1][0] + 1)
        new = [ref for ref in kept if ref.block not in earlier]
        document = build(calls, earlier, new, scope).document
        steps += _split(engine, calls, document if sizes is None else specialize(document, sizes))
        earlier |= {ref.block for call in calls for ref, _ in call.uses()}
    return steps


def _split(
    engine: GraphEngine, calls: Sequence[Call], document: Mapping[str, Any]
) -> Iterator[Lowered]:
    answer = list(engine.accepts(document))
    if len(answer) != len(calls):
        raise ValueError(f"accepts() has returned {len(answer)} values for {len(calls)} calls")
    # Random calls stay with the executor: how an engine advances a generator is unknown.
    mask = [
        bool(yes) and GENERATOR not in call.arguments.values()
        for yes, call in zip(answer, calls, strict=True)
    ]
    for yes, group in groupby(zip(mask, calls, strict=True), lambda x: x[0]):
        members = [call for _, call in group]
        yield (Offered if yes else Lowered)(", ".join({c.operator for c in members}), members)


def _used_later(trace: Trace, start: int) -> list[Ref]:
    used: list[Ref] = []
    for step in trace.steps[start:]:
        if isinstance(step, Lowered):
            used += [ref for call in step.calls for ref, _ in call.uses()]
        else:
            used += [x for x in refs_in((step.args, step.kwargs)) if isinstance(x, Ref)]
    return used + [x for x in refs_in(trace.output) if isinstance(x, Ref)]
