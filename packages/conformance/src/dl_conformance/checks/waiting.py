"""Checks of the slots that wait for streams or ask for their state, on streams that are busy."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from diopi_proto import Vendor
from diopi_proto.worker import note
from dl_conformance.queues import Bench, Block, Stream, repeat_while_busy
from dl_conformance.queues.rounds import LONG

from .check import SkipError, accuse, check
from .copy_order import IN_ORDER

BEFORE, DONE, LATER = 11, 22, 33
PRIORITY_ROUNDS = 5
LONGER = 1
"""Number of times that work is lengthened, so that another stream has time to overtake it."""
ALL_OF_IT = "return when all work that was enqueued before on the stream is finished"
ORDERED = (*IN_ORDER, "later work on a stream waits for copies and fills")
ALLOCATED = "the vendor leaves memory alone after its allocation"
DEVICE = "device_synchronize waits for every stream"
SYNCHRONIZE = "stream_synchronize waits for the work on its stream"

Result = TypeVar("Result")


def in_another_thread(function: Callable[[], Result]) -> Result:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def _needs(bench: Bench, slot: str) -> None:
    if not bench.has(slot):
        raise SkipError(f"{slot} is optional, and the library does not provide it")


def _streams(bench: Bench) -> list[tuple[str, Stream]]:
    """Return streams with their descriptions."""
    return [
        ("", bench.stream()),
        (" of high priority", bench.stream(-1)),
        (" that is the default one", bench.default),
    ]


def _here(function: Callable[[], Result]) -> Result:
    return function()


def _waits(
    bench: Bench,
    stream: Stream,
    wait: Callable[[], object],
    slot: str,
    observation: str,
    *,
    elsewhere: bool = False,
) -> None:
    """Check that a call returns when the work of a busy stream is finished.

    :param observation: message if the call returns earlier.
    :param elsewhere: make the call in another thread.
    """
    block = bench.block()

    def once() -> bool:
        bench.write(block, BEFORE)
        bench.mark(block, DONE, stream)

        def wait_while_busy() -> tuple[bool, int]:
            busy = bench.is_busy(stream)
            wait()
            return busy, bench.probe(block)

        # Observe in the thread itself, because starting and ending a thread takes time.
        busy, found = (in_another_thread if elsewhere else _here)(wait_while_busy)
        if found != DONE:
            accuse(slot, observation, ALL_OF_IT)
        return busy

    repeat_while_busy(bench, once)


@check(SYNCHRONIZE, after=ORDERED, unguarded=True)
def synchronize(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        _needs(bench, "stream_synchronize")
        for words, stream in _streams(bench):
            _waits(
                bench,
                stream,
                lambda stream=stream: bench.wait_for_stream(stream),  # type: ignore[misc]
                "stream_synchronize",
                f"it returned before the work on its stream{words} was finished",
            )


@check("stream_synchronize waits in any thread", after=(*ORDERED, SYNCHRONIZE), unguarded=True)
def synchronize_elsewhere(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        _needs(bench, "stream_synchronize")
        stream = bench.stream()
        bench.lengthen()
        _waits(
            bench,
            stream,
            lambda: bench.wait_for_stream(stream),
            "stream_synchronize",
            "it did not wait for work that another thread had enqueued",
            elsewhere=True,
        )


def _query(bench: Bench, ask: Callable[[Stream], bool], words: str) -> None:
    """Check that `stream_query` tells busy streams from finished ones."""
    for kind, stream in _streams(bench):
        block = bench.block()

        def once(kind: str = kind, stream: Stream = stream, block: Block = block) -> bool:
            bench.write(block, BEFORE)
            bench.mark(block, DONE, stream)
            finished = ask(stream)
            busy = bench.probe(block) != DONE
            if finished and busy:
                accuse(
                    "stream_query",
                    f"it reports{words} that a stream{kind} is finished, but its work is not",
                    "report finished only when all work that was enqueued on that stream is done",
                )
            bench.settle()
            if not ask(stream):
                accuse(
                    "stream_query",
                    f"it reports{words} that a stream{kind} is busy after everything was waited "
                    "for",
                    "report finished when all work that was enqueued on that stream is done",
                )
            return busy

        repeat_while_busy(bench, once)


@check("stream_query tells busy streams from finished ones", after=ORDERED, unguarded=True)
def query(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        _needs(bench, "stream_query")
        _query(bench, bench.is_finished, "")


@check(
    "stream_query sees the work of other threads",
    after=(*ORDERED, "stream_query tells busy streams from finished ones"),
    unguarded=True,
)
def query_elsewhere(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        _needs(bench, "stream_query")
        _query(
            bench,
            lambda stream: in_another_thread(lambda: bench.is_finished(stream)),
            " to another thread",
        )


@check(DEVICE, after=ORDERED, unguarded=True)
def device_synchronize(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        _needs(bench, "device_synchronize")
        for words, stream in _streams(bench):
            _waits(
                bench,
                stream,
                lambda: bench.slots.call("device_synchronize", bench.device),
                "device_synchronize",
                f"it returned before the work on a stream{words} was finished",
            )


@check("work of several threads on one stream runs in order", after=ORDERED, unguarded=True)
def threads_in_order(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        stream, block, copied = bench.stream(), bench.block(), bench.block()

        def once() -> bool:
            bench.write(block, BEFORE)
            bench.write(copied, BEFORE)
            bench.mark(block, DONE, stream)
            in_another_thread(lambda: bench.copy(copied, block, stream))
            busy = bench.is_busy(stream)
            bench.read(block, stream)
            bench.settle()
            if bench.probe(copied) != DONE:
                accuse(
                    "memory_copy (device to device)",
                    "work that a second thread enqueued on a stream did not wait for that of the "
                    "first",
                    "keep one queue for a stream, whichever thread enqueues",
                )
            return busy

        repeat_while_busy(bench, once)


@check("a stream of higher priority is not the slower one", after=ORDERED, unguarded=True)
def priority(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        low, normal, high = bench.stream(1), bench.stream(), bench.stream(-1)
        block, overtook = bench.block(), [0, 0]
        source = bench.source(DONE)
        for _ in range(LONGER):
            bench.lengthen()
        # On a loaded machine, nothing overtakes work that is too short.
        while overtook[0] <= PRIORITY_ROUNDS // 2 and bench.level < LONG and bench.lengthen():
            note("round")
            overtook = [0, 0]
            for _ in range(PRIORITY_ROUNDS):
                for at, stream in enumerate((normal, high)):
                    bench.load(low)
                    bench.copy(block, source, stream)
                    bench.read(block, stream)
                    # The stream is finished; did it wait for the long work?
                    overtook[at] += bench.is_loaded(low)
                    bench.settle()
        if overtook[0] > PRIORITY_ROUNDS // 2 and not overtook[1]:
            accuse(
                "stream_create",
                "a stream of high priority waits for a stream of low priority, which one of normal "
                "priority overtakes",
                "a lower number is a higher priority",
            )


@check(
    "the default stream is that of the device that the call names", after=ORDERED, unguarded=True
)
def default_streams(vendor: Vendor) -> None:
    if vendor.device_count < 2:
        raise SkipError("the library has one device")
    with Bench(vendor, 0) as idle, Bench(vendor, 1) as bench:
        block, stream = bench.block(), bench.default
        waits = {
            "device_synchronize": lambda: bench.slots.call("device_synchronize", bench.device),
        }
        if bench.has("stream_synchronize"):
            waits["stream_synchronize"] = lambda: bench.wait_for_stream(stream)
        for slot, wait in waits.items():
            _waits(
                bench,
                stream,
                wait,
                slot,
                "it did not wait for the default stream of the second device",
            )

        def once() -> bool:
            bench.write(block, BEFORE)
            bench.mark(block, DONE, stream)
            finished = bench.is_finished(stream)
            busy = bench.probe(block) != DONE
            if busy and finished:
                accuse(
                    "stream_query",
                    "it reports that the default stream of the second device is finished, but its "
                    "work is not",
                    "NULL is the default stream of the device that the call names",
                )
            if busy and not idle.is_finished(idle.default) and bench.probe(block) != DONE:
                accuse(
                    "stream_query",
                    "it reports that the default stream of an idle device is busy",
                    "NULL is the default stream of the device that the call names",
                )
            return busy

        if bench.has("stream_query"):
            repeat_while_busy(bench, once)


@check("a destroyed stream finishes its work", after=(*ORDERED, DEVICE), unguarded=True)
def destroyed(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        _needs(bench, "stream_destroy")
        _needs(bench, "device_synchronize")
        block = bench.block()

        def once() -> bool:
            stream = bench.stream()
            bench.write(block, BEFORE)
            bench.mark(block, DONE, stream)
            busy = bench.is_busy(stream)
            bench.destroy_stream(stream)
            bench.settle()
            if bench.probe(block) != DONE:
                accuse(
                    "stream_destroy",
                    "it dropped work that was enqueued on the stream",
                    "let the stream finish its work, then release it; device_synchronize waits "
                    "for that",
                )
            return busy

        repeat_while_busy(bench, once)


@check(ALLOCATED, after=ORDERED, unguarded=True)
def allocated(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        stream = bench.stream()
        source = bench.source(LATER)

        def once() -> bool:
            bench.load(bench.default)
            block = bench.block()
            bench.copy(block, source, stream)
            bench.read(block, stream)
            busy = bench.is_busy(bench.default)
            bench.settle()
            if bench.probe(block) != LATER:
                accuse(
                    "memory_allocate",
                    "the vendor wrote a new block after the call had returned",
                    "initialize it before the call returns, or not at all",
                )
            return busy

        repeat_while_busy(bench, once)
