"""Checks of copies and fills on a stream that is busy: each waits for the work before it, and the
work after it waits for it.

A round enqueues long work, then a write of FIRST, then a write of SECOND to the same block. The
last value shows which of the three ran out of order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from diopi_proto import Vendor
from dl_conformance.queues import Bench, Block, Stream, repeat_while_busy
from dl_conformance.queues.bench import NOT_ARRIVED, value_of

from .check import SkipError, accuse, check

BEFORE, FIRST, SECOND, OTHER = 11, 22, 33, 44
ATTEMPTS = 3
STAGED = (4096, 256 << 10)
"""Sizes of uploads in bytes: drivers stage small ones."""

DOWNLOAD = "a download has arrived in pageable memory when the call returns"
OWN_STREAM = "enqueue it on the stream that the call names"


@dataclass(frozen=True)
class Writer:
    """A kind of work that writes a block.

    :ivar words: the work, as the subject of a sentence.
    :ivar slot: the slot, with the kind of copy.
    """

    words: str
    slot: str
    needs: str
    write: Callable[[Bench, Block, int, Stream], None]

    @property
    def long_work(self) -> str:
        """Return a kind of long work other than the one under test."""
        return "copy" if self.slot == "memory_set" else ""

    def ready(self, bench: Bench, *values: int) -> None:
        """Prepare what needs to wait, before anything is enqueued.

        :raises SkipError: the table has no such slot.
        """
        if not bench.has(self.needs):
            raise SkipError(f"{self.needs} is optional, and the library does not provide it")
        for value in values:
            bench.source(value)


WRITERS = {
    "fill": Writer("a fill", "memory_set", "memory_set", Bench.fill),
    "within": Writer(
        "a copy within the device",
        "memory_copy (device to device)",
        "memory_copy",
        lambda bench, block, value, stream: bench.copy(block, bench.source(value), stream),
    ),
    "pageable": Writer(
        "an upload from pageable memory",
        "memory_copy (host to device)",
        "memory_copy",
        lambda bench, block, value, stream: bench.upload(
            block, bench.pageable(value, block.nbytes), stream
        ),
    ),
    "pinned": Writer(
        "an upload from pinned memory",
        "memory_copy (host to device)",
        "host_allocate",
        lambda bench, block, value, stream: bench.upload(
            block, bench.pinned(value, block.nbytes), stream
        ),
    ),
}


@check(DOWNLOAD, unguarded=True)
def download(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        stream, block = bench.stream(), bench.block()
        kinds = ["within", *(["fill"] if bench.has("memory_set") else [])]
        # A faulty writer may leave the old value too; two kinds of writers are not faulty alike.
        found: dict[str, set[int]] = {kind: set() for kind in kinds}
        for kind in kinds:
            WRITERS[kind].ready(bench, FIRST)

            def once(kind: str = kind) -> bool:
                bench.write(block, BEFORE)
                bench.load(stream, WRITERS[kind].long_work)
                WRITERS[kind].write(bench, block, FIRST, stream)
                busy = bench.is_busy(stream)
                found[kind].add(bench.read(block, stream))
                return busy

            repeat_while_busy(bench, once)
    slot = "memory_copy (device to host)"
    if any(NOT_ARRIVED in values for values in found.values()):
        accuse(
            slot,
            "it returned before the bytes were in pageable host memory",
            "wait for the copy unless the memory came from host_allocate",
        )
    if all(BEFORE in values for values in found.values()):
        accuse(slot, "it read the block before earlier work on its stream had written", OWN_STREAM)


def _runs_in_order(vendor: Vendor, name: str) -> None:
    """Check that a write waits for the work that was enqueued before it."""
    writer = WRITERS[name]
    with Bench(vendor) as bench:
        writer.ready(bench, FIRST, SECOND)
        others = [x for x in ("within", "fill", "pageable") if x != name]
        others = [x for x in others if bench.has(WRITERS[x].needs)]
        if not _is_overtaken(bench, writer, WRITERS[others[0]]):
            return
        # A race may end well once; the other kind of work must not be blamed for that.
        if not any(_is_overtaken(bench, writer, WRITERS[others[1]]) for _ in range(ATTEMPTS)):
            _accuse_of_overtaking(WRITERS[others[0]])
        accuse(
            writer.slot,
            f"{writer.words} ran before work that was enqueued earlier on its stream",
            OWN_STREAM,
        )


def _accuse_of_overtaking(writer: Writer) -> NoReturn:
    accuse(
        writer.slot,
        f"work that was enqueued after {writer.words} ran before it",
        "keep the order of the calls on a stream, also between directions of copies that run on "
        "queues of their own",
    )


def _is_overtaken(bench: Bench, writer: Writer, before: Writer) -> bool:
    """Return True if the last of two writes is not the one that was enqueued last."""
    stream, block, spare = bench.stream(), bench.block(), bench.block()
    before.ready(bench, FIRST)
    found = False

    def once() -> bool:
        nonlocal found
        bench.write(block, BEFORE)
        bench.load(stream, writer.long_work)
        before.write(bench, block, FIRST, stream)
        was_busy = bench.is_busy(stream)
        writer.write(bench, block, SECOND, stream)
        busy = bench.is_busy(stream)
        got = bench.read(block, stream)
        bench.settle()
        if got != SECOND and bench.probe(block) == SECOND:
            _accuse_of_overtaking(writer)
        found = found or got != SECOND
        # After a write that waits for its stream, no work is left on the stream.
        return busy or found or (was_busy and outlasts_the_write())

    def outlasts_the_write() -> bool:
        """Return True if the stream is still busy when the same write on a free stream is finished.
        A write that does not wait for its own stream is then finished before the earlier work."""

        def write() -> None:
            writer.write(bench, spare, SECOND, bench.free)
            bench.probe(spare)  # waits for the write

        return bench.outlasts(stream, write, writer.long_work)

    repeat_while_busy(bench, once, outlasts_the_write)
    return found


@check("a fill waits for earlier work on its stream", after=(DOWNLOAD,), unguarded=True)
def fill_order(vendor: Vendor) -> None:
    _runs_in_order(vendor, "fill")


@check(
    "a copy within the device waits for earlier work on its stream",
    after=(DOWNLOAD,),
    unguarded=True,
)
def within_order(vendor: Vendor) -> None:
    _runs_in_order(vendor, "within")


@check("an upload waits for earlier work on its stream", after=(DOWNLOAD,), unguarded=True)
def upload_order(vendor: Vendor) -> None:
    _runs_in_order(vendor, "pageable")


@check(
    "an upload from pinned memory waits for earlier work on its stream",
    after=(DOWNLOAD,),
    unguarded=True,
)
def pinned_upload_order(vendor: Vendor) -> None:
    _runs_in_order(vendor, "pinned")


IN_ORDER = (
    DOWNLOAD,
    "a fill waits for earlier work on its stream",
    "a copy within the device waits for earlier work on its stream",
    "an upload waits for earlier work on its stream",
    "an upload from pinned memory waits for earlier work on its stream",
)


@check(
    "a download to pinned memory waits for earlier work on its stream",
    after=IN_ORDER,
    unguarded=True,
)
def pinned_download_order(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        stream, block = bench.stream(), bench.block()
        if not bench.has("host_allocate"):
            raise SkipError("host_allocate is optional, and the library does not provide it")

        def once() -> bool:
            bench.write(block, BEFORE)
            target = bench.pinned()
            bench.mark(block, FIRST, stream)
            busy = bench.is_busy(stream)
            bench.download(target, block, stream)
            bench.read(block, stream)
            slot = "memory_copy (device to host, pinned)"
            got = value_of(target)
            if got == NOT_ARRIVED:
                accuse(
                    slot,
                    "the bytes were not in host memory when later work on the stream was finished",
                    OWN_STREAM,
                )
            if got != FIRST:
                accuse(slot, "it ran before work that was enqueued earlier", OWN_STREAM)
            return busy

        repeat_while_busy(bench, once)


@check("later work on a stream waits for copies and fills", after=IN_ORDER, unguarded=True)
def successors(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        for writer in WRITERS.values():
            if not bench.has(writer.needs):
                continue
            stream, block, copied = bench.stream(), bench.block(), bench.block()
            writer.ready(bench, FIRST)

            def once(
                writer: Writer = writer,
                stream: Stream = stream,
                block: Block = block,
                copied: Block = copied,
            ) -> bool:
                bench.write(block, BEFORE)
                bench.write(copied, OTHER)
                bench.load(stream)
                busy = bench.is_busy(stream)
                writer.write(bench, block, FIRST, stream)
                bench.copy(copied, block, stream)
                got = bench.read(copied, stream)
                if got == OTHER:  # the copy that shows the result was itself not finished
                    _accuse_of_overtaking(WRITERS["within"])
                if got != FIRST:
                    _accuse_of_overtaking(writer)
                return busy

            repeat_while_busy(bench, once)


@check("uploads take pageable memory before they return", after=IN_ORDER, unguarded=True)
def host_memory_is_taken(vendor: Vendor) -> None:
    with Bench(vendor) as bench:
        stream = bench.stream()
        for nbytes in STAGED:
            one, two = bench.block(nbytes), bench.block(nbytes)

            def once(one: Block = one, two: Block = two, nbytes: int = nbytes) -> bool:
                bench.write(one, BEFORE)
                bench.write(two, BEFORE)
                first, second = bench.pageable(FIRST, nbytes), bench.pageable(SECOND, nbytes)
                bench.load(stream)
                busy = bench.is_busy(stream)
                bench.upload(one, first, stream)
                bench.upload(two, second, stream)
                if bench.read(one, stream) != FIRST or bench.read(two, stream) != SECOND:
                    accuse(
                        "memory_copy (host to device)",
                        "an upload has the bytes of a later one",
                        "do not reuse a staging buffer before the upload that it serves is "
                        "finished",
                    )
                third = bench.pageable(FIRST, nbytes)
                bench.load(stream)
                busy = bench.is_busy(stream) and busy
                bench.upload(one, third, stream)
                third[:] = OTHER
                if bench.read(one, stream) != FIRST:
                    accuse(
                        "memory_copy (host to device)",
                        "it read pageable host memory after the call had returned",
                        "copy the bytes to a staging buffer, or wait, before it returns",
                    )
                return busy

            repeat_while_busy(bench, once)
