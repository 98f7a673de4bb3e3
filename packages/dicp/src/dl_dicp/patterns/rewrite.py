"""Application of patterns to a trace."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby

from diopi_proto.errors import DiopiError
from dl_core import _C
from dl_dicp.patterns.pattern import PRIVATE_WORDS, Declined, Match, Pattern
from dl_dicp.patterns.sequence import Calls, VariesError
from dl_dicp.program.document import FIXED, Scope, build
from dl_dicp.recording.calls import Call
from dl_dicp.recording.memory import Block, Ref
from dl_dicp.recording.trace import Host, Lowered, Trace, refs_in
from dl_graph import read
from dl_graph.expression import Json


@dataclass
class Rewriting:
    """Outcome of the patterns on a trace.

    :ivar trace: the rewritten trace, or the original one if no pattern fired.
    :ivar fired: names of the patterns that fired, one for each match.
    :ivar declined: names of patterns, each with the reason why a sequence was left alone.
    :ivar assumed: conditions on the sizes under which patterns fired, as relations of a graph file.
    """

    trace: Trace
    fired: list[str] = field(default_factory=list)
    declined: list[tuple[str, str]] = field(default_factory=list)
    assumed: list[Json] = field(default_factory=list)

    def give_up(self, reason: str) -> None:
        """Record that the program with patterns could not be used."""
        self.declined += [(name, f"with it, {reason}") for name in sorted(set(self.fired))]
        self.fired.clear()


def rewrite(
    trace: Trace,
    patterns: Iterable[Pattern],
    scope: Scope = FIXED,
    seen: Sequence[Mapping[str, int]] = (),
) -> Rewriting:
    """Try patterns on each sequence of calls, one pattern after the other.

    :param scope: the sizes for which the trace is valid.
    :param seen: the recorded sizes.
    """
    done = Rewriting(trace)
    bound = _bound(trace.device.index)
    steps: list[Lowered | Host] = []
    for lowered, group in groupby(trace.steps, lambda step: isinstance(step, Lowered)):
        members = list(group)
        if not lowered:
            steps += members
            continue
        calls = [call for step in members for call in step.calls]  # type: ignore[union-attr]
        outside = _outside(trace, members, calls)
        for pattern in patterns:
            given = Calls(calls, outside, scope, seen)
            calls = _apply(pattern, given, scope, bound, done)
        steps.append(Lowered("rewritten", calls))
    if done.fired:
        done.trace = dataclasses.replace(trace, steps=steps)
    return done


def _apply(
    pattern: Pattern, calls: Calls, scope: Scope, bound: frozenset[str], done: Rewriting
) -> list[Call]:
    replaced: dict[int, Call] = {}
    gone: set[int] = set()
    for last in reversed(range(len(calls))):
        if last in gone:
            continue
        calls.assumed.clear()
        try:
            found = pattern.match(calls, last)
        except VariesError as error:
            done.declined.append((pattern.name, str(error)))
            continue
        except Exception as error:  # noqa: BLE001 - the graph must run even if a plugin fails
            done.declined.append((pattern.name, f"it failed: {type(error).__name__}: {error}"))
            continue
        if isinstance(found, Match):
            if gone & found.members:
                continue
            why = _unsafe(calls, found, scope, bound)
            if not why:
                done.fired.append(pattern.name)
                done.assumed += [each for each in calls.assumed if each not in done.assumed]
                replaced[last] = found.call
                gone |= found.members
                continue
        elif isinstance(found, Declined):
            why = pattern.conditions[found.condition]
        else:
            continue
        done.declined.append((pattern.name, why))
    return [
        replaced.get(place, calls[place])
        for place in range(len(calls))
        if place in replaced or place not in gone
    ]


def _unsafe(calls: Calls, found: Match, scope: Scope, bound: frozenset[str]) -> str:
    """Return why no pattern may rewrite this match; empty if it may be rewritten."""
    first, last = min(found.members), max(found.members)
    uses = list(found.call.uses())
    made = {ref.block for ref, writes in uses if writes}
    written = {
        ref.block for place in found.members for ref, writes in calls[place].uses() if writes
    }
    if any(not calls.is_private(block, found.members) for block in written - made):
        return PRIVATE_WORDS
    for block in made:
        if any(first <= at < last and at not in found.members for at, _, _ in calls.uses(block)):
            return "one of its results is used before the fused call would write it"
    for ref, writes in uses:
        # The fused call reads the tensor later than the calls of the sequence do.
        read_at = [at for at, _, w in calls.uses(ref.block) if at in found.members and not w]
        if not writes and any(
            min(read_at, default=first) < at < last and changes
            for at, _, changes in calls.uses(ref.block)
        ):
            return "a tensor that it reads is written in between"
    if found.call.operator not in bound:
        return f"the vendor has no {found.call.operator}"
    try:
        region = build([found.call], {ref.block for ref, _ in uses}, [], scope)
        read(region.verified(), found.call.operator)
    except DiopiError as error:
        return f"the contract does not allow the fused call: {error}"
    return ""


def _outside(trace: Trace, members: Sequence[Lowered | Host], calls: Sequence[Call]) -> set[Block]:
    """Return the blocks of these calls that are also used elsewhere."""
    out = {ref.block for call in calls for ref, _ in call.uses() if ref.block.given is not None}
    out |= {ref.block for ref in refs_in(trace.output) if isinstance(ref, Ref)}
    own = {id(step) for step in members}
    for step in trace.steps:
        if id(step) in own:
            continue
        if isinstance(step, Lowered):
            out |= {ref.block for call in step.calls for ref, _ in call.uses()}
        else:
            refs = [*refs_in((step.args, step.kwargs)), *step.results]
            out |= {ref.block for ref in refs if isinstance(ref, Ref)}
    return out


@cache
def _bound(index: int) -> frozenset[str]:
    """Return the operators that a device's vendor implements."""
    return frozenset(name for names in _C.contract_operators(index).values() for name in names)
