"""Checks of events that are recorded after long-running work."""

from __future__ import annotations

import time
from collections.abc import Callable
from weakref import WeakKeyDictionary

from diopi_proto import Vendor
from dl_conformance.queues import Bench, Event, Stream, repeat_while_busy

from .check import SkipError, accuse, check
from .waiting import BEFORE, DONE, ORDERED, in_another_thread

OBSERVERS = ("event_query", "event_synchronize", "stream_wait_event")
LOOKS = 50
"""Maximum number of queries of an unfinished event."""
RECORD = "an event covers the work before it on its stream"
REMEDIES = {
    "event_query": "report finished only when the recorded work is done",
    "event_synchronize": "return when the recorded work is done",
    "stream_wait_event": "let all later work of the stream wait for the recorded work",
}
OBSERVATIONS = {
    "event_query": "it reports that an event is finished, but the recorded work is not",
    "event_synchronize": "it returned before the recorded work was finished",
    "stream_wait_event": "later work of the stream did not wait for the recorded work",
}
_EARLY: WeakKeyDictionary[Vendor, frozenset[str]] = WeakKeyDictionary()
"""Slots that reported an event as finished too early, by vendor."""


def _needs(bench: Bench, *slots: str) -> None:
    for slot in slots:
        if not bench.has(slot):
            raise SkipError(f"{slot} is missing, and the host emulates it")


class _Trial:
    """An event that is recorded on a busy stream, and how each slot treats it.

    :ivar waiting: stream that can wait for the event.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.stream, self.waiting = bench.stream(), bench.stream()
        self.block, self.copied = bench.block(), bench.block()

    def prepare(self) -> None:
        self.bench.write(self.block, BEFORE)
        self.bench.write(self.copied, BEFORE)

    def is_early(self, slot: str, event: Event) -> bool:
        """Return True if a slot treats the event as finished before its work is finished."""
        bench = self.bench
        if slot == "event_query":
            # An event that was recorded on a wrong stream finishes only when that stream reaches
            # it.
            for _ in range(LOOKS):
                if bench.event_is_finished(event):
                    return bench.probe(self.block) != DONE
                if bench.probe(self.block) == DONE:
                    break
            return False
        if slot == "event_synchronize":
            bench.synchronize_event(event)
            return bench.probe(self.block) != DONE
        bench.wait_for_event(self.waiting, event)
        return self.follower()

    def follower(self) -> bool:
        """Return True if later work of the waiting stream does not see the recorded work."""
        self.bench.copy(self.copied, self.block, self.waiting)
        return self.bench.read(self.copied, self.waiting) != DONE

    def run(self, record: Callable[[Event, Stream], None], slot: str) -> bool:
        """Return True if a slot was early in any round; repeat until the stream is busy."""
        found = False

        def once() -> bool:
            nonlocal found
            self.prepare()
            event = self.bench.event()
            self.bench.mark(self.block, DONE, self.stream)
            record(event, self.stream)
            busy = self.bench.is_busy(self.stream)
            found = self.is_early(slot, event) or found
            self.bench.settle()
            return busy

        repeat_while_busy(self.bench, once)
        return found


def _early(vendor: Vendor) -> frozenset[str]:
    if vendor not in _EARLY:
        with Bench(vendor) as bench:
            _needs(bench, "event_create", "event_record")
            bench.lengthen()
            trial = _Trial(bench)
            offered = [slot for slot in OBSERVERS if bench.has(slot)]
            _EARLY[vendor] = frozenset(x for x in offered if trial.run(bench.record, x))
    return _EARLY[vendor]


@check(RECORD, after=ORDERED, unguarded=True)
def recorded(vendor: Vendor) -> None:
    # A single slot that is early is wrong itself.
    if len(_early(vendor)) > 1:
        accuse(
            "event_record",
            f"{' and '.join(sorted(_early(vendor)))} treat an event as finished before the work "
            "that was enqueued earlier on its stream",
            "record it after that work, on the stream that the call names",
        )


def _observer(vendor: Vendor, slot: str) -> None:
    if slot in _early(vendor):
        accuse(slot, OBSERVATIONS[slot], REMEDIES[slot])


@check(
    "event_query tells when the recorded work is finished", after=(*ORDERED, RECORD), unguarded=True
)
def query(vendor: Vendor) -> None:
    _observer(vendor, "event_query")
    with Bench(vendor) as bench:
        trial, event = _Trial(bench), bench.event()
        bench.mark(trial.block, DONE, trial.stream)
        bench.record(event, trial.stream)
        bench.settle()
        if not bench.event_is_finished(event):
            accuse(
                "event_query",
                "it reports that an event is unfinished after everything was waited for",
                "report finished when the recorded work is done",
            )


@check("event_synchronize waits for the recorded work", after=(*ORDERED, RECORD), unguarded=True)
def synchronize(vendor: Vendor) -> None:
    _observer(vendor, "event_synchronize")


@check("event_synchronize waits in any thread", after=(*ORDERED, RECORD), unguarded=True)
def synchronize_elsewhere(vendor: Vendor) -> None:
    if "event_synchronize" in _early(vendor):
        raise SkipError("it waits in no thread")
    with Bench(vendor) as bench:
        trial = _Trial(bench)
        bench.lengthen()

        def once() -> bool:
            trial.prepare()
            event = bench.event()
            bench.mark(trial.block, DONE, trial.stream)
            bench.record(event, trial.stream)

            def wait_while_busy() -> tuple[bool, int]:
                busy = bench.is_busy(trial.stream)
                bench.synchronize_event(event)
                return busy, bench.probe(trial.block)

            busy, found = in_another_thread(wait_while_busy)
            if found != DONE:
                accuse(
                    "event_synchronize",
                    "it did not wait for an event that another thread had recorded",
                    REMEDIES["event_synchronize"],
                )
            return busy

        repeat_while_busy(bench, once)


WAIT = "stream_wait_event delays later work until the recorded work is finished"


@check(WAIT, after=(*ORDERED, RECORD), unguarded=True)
def wait(vendor: Vendor) -> None:
    _observer(vendor, "stream_wait_event")


@check("an event can be recorded again", after=(*ORDERED, RECORD), unguarded=True)
def recorded_again(vendor: Vendor) -> None:
    if early := _early(vendor):
        raise SkipError(f"{min(early)} is early for a first record too")
    with Bench(vendor) as bench:
        trial, idle = _Trial(bench), bench.stream()

        def record(event: Event, stream: Stream) -> None:
            bench.record(event, idle)
            bench.synchronize_event(event)
            bench.record(event, stream)

        early_slots = {slot for slot in OBSERVERS if bench.has(slot) and trial.run(record, slot)}
        if early_slots:
            accuse(
                "event_record",
                "an event that was recorded a second time is finished with the work of the first",
                "let the last record replace earlier ones",
            )


@check("a wait holds for the record that it found", after=(*ORDERED, RECORD, WAIT), unguarded=True)
def later_record(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        _needs(bench, "stream_wait_event")
        trial, idle = _Trial(bench), bench.stream()

        def once() -> bool:
            trial.prepare()
            event = bench.event()
            bench.mark(trial.block, DONE, trial.stream)
            bench.record(event, trial.stream)
            bench.wait_for_event(trial.waiting, event)
            bench.record(event, idle)
            busy = bench.is_busy(trial.stream)
            if trial.follower():
                accuse(
                    "stream_wait_event",
                    "a wait was lost when its event was recorded again on another stream",
                    "wait for the record that the event had when the call was made",
                )
            return busy

        repeat_while_busy(bench, once)


@check("a wait outlives its event", after=(*ORDERED, RECORD, WAIT), unguarded=True)
def destroyed(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        _needs(bench, "stream_wait_event")
        trial = _Trial(bench)

        def once() -> bool:
            trial.prepare()
            event = bench.event()
            bench.mark(trial.block, DONE, trial.stream)
            bench.record(event, trial.stream)
            bench.wait_for_event(trial.waiting, event)
            bench.destroy_event(event)
            busy = bench.is_busy(trial.stream)
            if trial.follower():
                accuse(
                    "event_destroy",
                    "a stream that was waiting for the event stopped waiting",
                    "keep the record until no stream waits for it",
                )
            return busy

        repeat_while_busy(bench, once)


@check("a new event has no record of a destroyed one", after=(*ORDERED, RECORD), unguarded=True)
def fresh(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        _needs(bench, "event_create", "event_query")
        if "event_query" in _early(vendor):
            raise SkipError("event_query is wrong")
        stream = bench.stream()

        def once() -> bool:
            old = bench.event()
            bench.load(stream)
            bench.record(old, stream)
            bench.destroy_event(old)
            new = bench.event()
            finished = bench.event_is_finished(new)
            busy = bench.is_busy(stream)
            bench.settle()
            if not finished and bench.event_is_finished(new):
                accuse(
                    "event_create",
                    "a new event is unfinished until the work before a destroyed event is done",
                    "an event that was never recorded is finished: reset handles before reuse",
                )
            return busy

        repeat_while_busy(bench, once)


LEAST_MS = 2.0
"""Time of long work in milliseconds below which nothing is concluded from the host's clock."""


@check("event_elapsed measures the work in milliseconds", after=(*ORDERED, RECORD), unguarded=True)
def elapsed(vendor: Vendor) -> None:
    slot, remedy = "event_elapsed", "return the milliseconds from the start to the end"
    with Bench(vendor) as bench:
        _needs(bench, "event_create", "event_elapsed")
        stream = bench.stream()
        short: list[str] = []

        def once() -> bool:
            events = [bench.event(timing=True) for _ in range(3)]
            bench.settle()
            begin = time.perf_counter()
            bench.record(events[0], stream)
            bench.load(stream)
            bench.record(events[1], stream)
            bench.load(stream)
            bench.record(events[2], stream)
            enqueued = time.perf_counter()
            busy = bench.is_busy(stream)
            # Blocks until the stream is finished.
            bench.read(stream.tick[0][0], stream)
            end = time.perf_counter()
            bench.settle()
            first, second, both = (
                bench.elapsed(events[a], events[b]) for a, b in ((0, 1), (1, 2), (0, 2))
            )
            for value in (first, second, both):
                if value < 0:
                    accuse(slot, f"the time to a later event is negative: {value:g} ms", remedy)
            if abs(first + second - both) > 0.01 + 0.01 * both:
                sums = f"{first:g} ms and {second:g} ms make {both:g} ms"
                accuse(slot, f"times of consecutive events do not add up: {sums}", remedy)
            took, waited = (end - begin) * 1e3, (end - enqueued) * 1e3
            if both > 2 * took + 1:
                seen = f"{both:g} ms between events of work that took {took:g} ms by the host"
                accuse(slot, f"{seen}'s clock, so that its unit is not the millisecond", remedy)
            if waited > LEAST_MS and both < waited / 50:
                # This thread may have slept after the work was finished, but not every time.
                short.append(f"{both:g} ms between events of work that took {waited:g} ms")
                return busy
            short.clear()
            return busy and waited > LEAST_MS

        repeat_while_busy(bench, once)
        if len(short) >= 3:
            accuse(slot, f"{short[-1]} by the host's clock", remedy)
