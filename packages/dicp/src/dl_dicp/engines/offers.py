"""Which calls of a trace an engine is given: neighbours that it accepts become a step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from dl_dicp.calls import GENERATOR, Call
from dl_dicp.document import ENTRY, build
from dl_dicp.memory import Block, Ref
from dl_dicp.trace import Host, Lowered, Trace, refs_in

from .interface import GraphEngine


class Offered(Lowered):
    """Calls that an engine accepts."""


def offered(trace: Trace, engine: GraphEngine, given: set[Block]) -> list[Lowered | Host]:
    """The steps of a trace with those of :class:`Offered` among them.

    :param given: blocks that were made before the trace.
    :raises ValueError: the engine's answer is none.
    """
    steps: list[Lowered | Host] = []
    earlier = set(given)
    for lowered, group in groupby(enumerate(trace.steps), lambda x: isinstance(x[1], Lowered)):
        members = list(group)
        if not lowered:
            steps += [step for _, step in members]
            continue
        calls = [call for _, step in members for call in step.calls]  # type: ignore[union-attr]
        kept = _used_later(trace, members[-1][0] + 1)
        steps += _split(engine, calls, earlier, [ref for ref in kept if ref.block not in earlier])
        earlier |= {ref.block for call in calls for ref, _ in call.uses()}
    return steps


def _split(
    engine: GraphEngine, calls: list[Call], earlier: set[Block], kept: Sequence[Ref]
) -> Iterator[Lowered]:
    answer = list(engine.accepts(build(calls, earlier, kept).document))
    if len(answer) != len(calls):
        raise ValueError(f"it answered for {len(answer)} of {len(calls)} calls of {ENTRY}")
    # Where an engine stands in a sequence of random numbers, nobody could say.
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
