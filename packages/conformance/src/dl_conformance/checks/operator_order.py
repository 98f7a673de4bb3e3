"""Checks of operators on streams that are busy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from weakref import WeakKeyDictionary

from diopi_proto import Vendor
from diopi_proto.errors import DiopiError
from diopi_proto.worker import note
from dl_conformance.case import Case
from dl_conformance.queues import Bench, Stream
from dl_conformance.queues.operator_trial import (
    Queue,
    Trial,
    collect,
    enqueue,
    lay_out,
    outputs_now,
    repeated,
    suitable_cases,
    working_trial,
)

from .check import SkipError, accuse, check
from .waiting import ALLOCATED, ORDERED

BATCH = 8
"""Number of operators that are enqueued after long-running work."""
SYNCHRONOUS = 20
"""Number of operators to try on a synchronous vendor, whose streams are never busy."""
ATTEMPTS = 3
"""Maximum number of attempts to run an operator alone while its stream is busy, or two calls at the
same time."""
LOOKS = 200
"""Maximum number of reads of a result while its stream is busy."""
SHOWN = 8
"""Maximum number of operators that a message names."""

EARLY = (
    "wrote its result before work that was enqueued earlier on its stream was finished",
    "enqueue it on the stream of its context, dl_context_stream",
)
LOST = (
    "gives a wrong result on a busy stream, and the right one on an idle stream",
    "do not free or reuse its workspaces before the work on the stream is finished: "
    "diopiRequireBuffer sees to that",
)
UNJOINED = (
    "was not finished when later work on its stream ran",
    "enqueue all its work on the stream of its context, or let that stream wait for the streams of "
    "the work",
)
SHARED = (
    "gives a wrong result while it also runs on another stream",
    "do not share workspaces between streams: diopiRequireBuffer belongs to one",
)
Verdict = tuple[str, str]
_VERDICTS: WeakKeyDictionary[Vendor, dict[str, Verdict | None]] = WeakKeyDictionary()
"""Verdict on each operator that was seen on a busy stream, by vendor; None: it is right."""


def _bound(vendor: Vendor) -> Iterator[str]:
    names = (name for name, bound in vendor.operators.items() if bound)
    return islice(names, SYNCHRONOUS) if vendor.synchronous else names


def _first(vendor: Vendor, cases: Iterable[Case], count: int) -> list[Trial]:
    """Return the trials of the first cases that work."""
    found: list[Trial] = []
    for case in islice(cases, 4):
        note(case.name)
        if len(found) < count and (trial := working_trial(vendor, case)) is not None:
            found.append(trial)
    return found


def _verdict(vendor: Vendor, trial: Trial) -> Verdict | None:
    """Return the verdict on an operator that has run; None: it is right."""
    right = trial.is_right()
    if right and trial.is_joined():
        return None
    if working_trial(vendor, trial.call.case) is None:
        # The operator is sometimes wrong on an idle stream too.
        return None
    if _is_early(vendor, trial.call.case):
        return EARLY
    return UNJOINED if right else LOST


def _is_early(vendor: Vendor, case: Case) -> bool:
    """Return True if an operator provably writes its result before its stream reaches it."""
    trial = working_trial(vendor, case)
    if trial is None:
        return False
    with Bench(vendor) as bench:
        queue = Queue.of(bench)
        bench.lengthen()
        lay_out(bench, trial)
        bench.settle()
        before = outputs_now(bench, trial)
        bench.load(queue.stream)
        try:
            enqueue(bench, trial, queue)
        except DiopiError:
            return False
        # The operator may run on a stream other than its own, which may need a moment.
        for _ in range(LOOKS):
            if not bench.is_loaded(queue.stream):
                break
            if outputs_now(bench, trial) != before and bench.is_loaded(queue.stream):
                return True
        return False


def _run(vendor: Vendor, trials: list[Trial], longer: int = 0) -> None:
    """Run trials after long-running work on one stream.

    :param longer: number of times that the work is made longer.
    """
    with Bench(vendor) as bench:
        for _ in range(longer):
            bench.lengthen()
        queue, spare = Queue.of(bench), bench.block()
        for trial in trials:
            lay_out(bench, trial)
        bench.settle()
        bench.load(queue.stream)
        ran = []
        for trial in trials:
            try:
                enqueue(bench, trial, queue)
                ran.append(trial)
            except DiopiError:
                trial.busy = False
        # By now, an operator that did not wait for its stream is finished, unless the machine is so
        # loaded that not even a download on a free stream is.
        bench.probe(spare)
        proven = bench.is_loaded(queue.stream)
        for trial in ran:
            trial.proven = proven and trial.busy
        for trial in ran:
            collect(bench, trial, queue)
        bench.settle()
        queue.host.synchronize()


def _is_conclusive(trial: Trial) -> bool:
    """Return True if a result on a busy stream is wrong, or could have been."""
    return trial.proven or (trial.busy and not (trial.is_right() and trial.is_joined()))


def _alone(vendor: Vendor, trial: Trial) -> Trial:
    """Run the case of a trial alone, after longer and longer work, until it is conclusive."""
    for longer in range(1, ATTEMPTS + 1):
        again = working_trial(vendor, trial.call.case)
        if again is None:
            break
        _run(vendor, [again], longer)
        if _is_conclusive(again):
            return again
        trial = again if again.busy or not trial.busy else trial
    return trial


def _verdicts(vendor: Vendor) -> dict[str, Verdict | None]:
    if vendor not in _VERDICTS:
        found: dict[str, Verdict | None] = {}
        names = _bound(vendor)
        while part := [*islice(names, BATCH)]:
            trials = [x for name in part for x in _first(vendor, suitable_cases(vendor, name), 1)]
            _run(vendor, trials)
            for trial in trials:
                if not (vendor.synchronous or _is_conclusive(trial)):
                    # A previous operator has waited for the stream, or enqueueing took too long.
                    trial = _alone(vendor, trial)
                if trial.results and (trial.busy or vendor.synchronous):
                    found[trial.operator] = _verdict(vendor, trial)
        _VERDICTS[vendor] = found
    return _VERDICTS[vendor]


def _accuse(verdicts: dict[str, Verdict | None], *of: Verdict) -> None:
    for verdict in of:
        names = [name for name, found in verdicts.items() if found == verdict]
        if names:
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            accuse(", ".join(names[:SHOWN]) + more, *verdict)
    if not verdicts:
        raise SkipError("no operator was seen on a busy stream")


@check(
    "operators wait for earlier work on their stream", after=(*ORDERED, ALLOCATED), unguarded=True
)
def order(vendor: Vendor) -> None:
    _accuse(_verdicts(vendor), EARLY)


@check(
    "operators keep their workspaces until they are finished",
    after=(*ORDERED, ALLOCATED),
    unguarded=True,
)
def workspaces(vendor: Vendor) -> None:
    _accuse(_verdicts(vendor), LOST)


@check("later work on a stream waits for operators", after=(*ORDERED, ALLOCATED), unguarded=True)
def successors(vendor: Vendor) -> None:
    _accuse(_verdicts(vendor), UNJOINED)


def _meet(bench: Bench, *streams: Stream) -> None:
    """Let each stream wait for the others, so that their next operators run at the same time."""
    if not (bench.has("event_create") and bench.has("stream_wait_event")):
        return
    events = [bench.event() for _ in streams]
    for stream, event in zip(streams, events, strict=True):
        bench.record(event, stream)
    for stream in streams:
        for event in events:
            bench.wait_for_event(stream, event)
    for event in events:
        bench.destroy_event(event)


@check(
    "operators on two streams do not share workspaces", after=(*ORDERED, ALLOCATED), unguarded=True
)
def two_streams(vendor: Vendor) -> None:
    verdicts: dict[str, Verdict | None] = {}
    right = [name for name, found in _verdicts(vendor).items() if found is None]
    for at in range(0, len(right), BATCH):
        pairs = [
            pair
            for name in right[at : at + BATCH]
            if len(pair := _first(vendor, suitable_cases(vendor, name), 2)) == 2
        ]
        # Two calls may miss each other by chance, so that neither spoils the other.
        for attempt in range(ATTEMPTS):
            if attempt:
                pairs = [pair for pair in pairs if verdicts.get(pair[0].operator, SHARED) is None]
                again = ([repeated(vendor, trial) for trial in pair] for pair in pairs)
                pairs = [[x for x in pair if x is not None] for pair in again if all(pair)]
            for pair in _run_on_two_streams(vendor, pairs):
                wrong = not all(trial.is_right() for trial in pair)
                verdicts[pair[0].operator] = SHARED if wrong else None
    _accuse(verdicts, SHARED)


def _run_on_two_streams(vendor: Vendor, pairs: list[list[Trial]]) -> list[list[Trial]]:
    """Run the calls of each pair at the same time, and return the pairs that both ran."""
    with Bench(vendor) as bench:
        queues = Queue.of(bench), Queue.of(bench)
        for pair in pairs:
            for trial in pair:
                lay_out(bench, trial)
        bench.settle()
        for queue in queues:
            bench.load(queue.stream)
        for pair in pairs:
            _meet(bench, *(queue.stream for queue in queues))
            for trial, queue in zip(pair, queues, strict=True):
                try:
                    enqueue(bench, trial, queue)
                except DiopiError:
                    trial.results = {}
        bench.settle()
        for queue in queues:
            queue.host.synchronize()
    return [pair for pair in pairs if all(trial.results for trial in pair)]
