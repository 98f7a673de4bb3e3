"""Tests of communicators whose ranks are the devices of one process, each driven by a thread."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from diopi_proto import (
    ArgumentError,
    NotSupportedError,
    UnavailableError,
    VendorError,
    ffi,
    load_vendor,
)
from dl_vendor_async_test.plugin import dl_vendor

RANKS = 3


@pytest.fixture
def vendor(monkeypatch):
    monkeypatch.setenv("DL_ASYNC_TEST_DEVICES", str(RANKS))
    with load_vendor(dl_vendor().library) as opened:
        yield opened


class Rank:
    """The state of the thread of one rank."""

    def __init__(self, vendor, communicator):
        self.vendor, self.communicator = vendor, communicator
        self.number = communicator.rank

    def upload(self, values, dtype="float32"):
        array = np.asarray(values, dtype)
        return self.vendor.tensor(array, device=self.communicator.device)

    def room(self, count, dtype="float32"):
        return self.vendor.empty((count,), dtype, device=self.communicator.device)

    def synchronize(self):
        self.vendor.synchronize(self.communicator.device)


def on_all_ranks(vendor, body, ranks=RANKS):
    """Return the body's result of each rank; raise the error of the first failing rank."""
    name = vendor.communicators.unique_id()

    def run(number):
        communicator = vendor.communicators.create(name, ranks, number, device=number, seconds=60)
        result = body(Rank(vendor, communicator))
        # No rank leaves before all are done.
        vendor.synchronize(number)
        return result

    with ThreadPoolExecutor(ranks) as pool:
        return [done.result(60) for done in [pool.submit(run, n) for n in range(ranks)]]


@pytest.mark.parametrize(
    ("reduce", "expected"),
    [
        ("sum", [6, 15]),
        ("product", [6, 120]),
        ("minimum", [1, 4]),
        ("maximum", [3, 6]),
        ("average", [2, 5]),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint16", "int32", "int64"])
def test_all_reduce(vendor, reduce, expected, dtype):
    def body(rank):
        send, receive = rank.upload([1 + rank.number, 4 + rank.number], dtype), rank.room(2, dtype)
        rank.communicator.all_reduce(send, receive, reduce)
        rank.synchronize()
        rank.communicator.all_reduce(send, send, reduce)  # in place
        rank.synchronize()
        return receive.numpy().tolist(), send.numpy().tolist()

    assert on_all_ranks(vendor, body) == [(expected, expected)] * RANKS


def every_other_collective(rank):
    """Return the results of all other collectives on one rank."""
    c, me = rank.communicator, rank.number
    ranks = c.ranks
    one = rank.upload([10 * me, 10 * me + 1])
    many = rank.upload([100 * me + i for i in range(2 * ranks)])
    results = {}

    reduced = rank.room(2)
    c.reduce(one, reduced if me == 1 else None, 1)
    rank.synchronize()
    results["reduce"] = reduced.numpy().tolist() if me == 1 else None

    got = rank.room(2)
    c.broadcast(one if me == 2 else None, got, 2)
    rank.synchronize()
    results["broadcast"] = got.numpy().tolist()

    gathered = rank.room(2 * ranks)
    c.all_gather(one, gathered)
    rank.synchronize()
    results["all_gather"] = gathered.numpy().tolist()

    part = rank.room(2)
    c.reduce_scatter(many, part)
    rank.synchronize()
    results["reduce_scatter"] = part.numpy().tolist()

    exchanged = rank.room(2 * ranks)
    c.all_to_all(many, exchanged)
    rank.synchronize()
    results["all_to_all"] = exchanged.numpy().tolist()

    at_root = rank.room(2 * ranks)
    c.gather(one, at_root if me == 0 else None, 0)
    rank.synchronize()
    results["gather"] = at_root.numpy().tolist() if me == 0 else None

    mine = rank.room(2)
    c.scatter(many if me == 1 else None, mine, 1)
    rank.synchronize()
    results["scatter"] = mine.numpy().tolist()
    return results


def expected_of(me):
    """Return the expected results for three ranks."""
    return {
        "reduce": [30, 33] if me == 1 else None,
        "broadcast": [20, 21],
        "all_gather": [0, 1, 10, 11, 20, 21],
        "reduce_scatter": [300 + 3 * (2 * me), 300 + 3 * (2 * me + 1)],
        "all_to_all": [100 * r + 2 * me + i for r in range(RANKS) for i in range(2)],
        "gather": [0, 1, 10, 11, 20, 21] if me == 0 else None,
        "scatter": [100 + 2 * me, 100 + 2 * me + 1],
    }


def test_every_other_collective(vendor):
    for me, results in enumerate(on_all_ranks(vendor, every_other_collective)):
        assert results == expected_of(me)


def test_messages_of_a_group_do_not_wait_for_each_other(vendor):
    def body(rank):
        c, me = rank.communicator, rank.number
        send, receive = rank.upload([me]), rank.room(1)
        # A ring in which every rank receives first: without the group, none would ever send.
        with rank.vendor.communicators.group():
            c.receive(receive, (me - 1) % RANKS)
            c.send(send, (me + 1) % RANKS)
        rank.synchronize()
        return receive.numpy().tolist()

    assert on_all_ranks(vendor, body) == [[2], [0], [1]]


def test_messages_match_in_their_order_and_reach_oneself(vendor):
    def body(rank):
        c, me = rank.communicator, rank.number
        if me == 0:
            for value in (1, 2, 3):
                c.send(rank.upload([value]), 1)
            return None
        if me == 1:
            rooms = [rank.room(1) for _ in range(3)]
            for room in rooms:
                c.receive(room, 0)
            rank.synchronize()
            return [room.numpy().tolist() for room in rooms]
        own = rank.room(1)
        with rank.vendor.communicators.group():
            c.send(rank.upload([9]), me)
            c.receive(own, me)
        rank.synchronize()
        return own.numpy().tolist()

    assert on_all_ranks(vendor, body) == [None, [[1], [2], [3]], [9]]


def test_calls_return_before_their_peers_come(vendor):
    """Rank 0 enqueues and continues; only then rank 1 calls."""
    enqueued = threading.Event()

    def body(rank):
        if rank.number == 1:
            assert enqueued.wait(60)
        x = rank.upload([1 + rank.number])
        rank.communicator.all_reduce(x, x)
        enqueued.set()
        rank.synchronize()
        return x.numpy().tolist()

    assert on_all_ranks(vendor, body, 2) == [[3], [3]]


def test_ranks_that_disagree_all_hear_of_it(vendor):
    def body(rank):
        c = rank.communicator
        x = rank.upload([1, 2, 3])
        reduce = "sum" if rank.number == 0 else "maximum"
        c.all_reduce(x, x, reduce)
        with pytest.raises(VendorError, match="ranks disagree: one enqueued all_reduce of 3"):
            rank.synchronize()
        for _ in range(2):  # the error persists
            with pytest.raises(VendorError, match="ranks disagree"):
                c.check()
        return x.numpy().tolist()

    assert on_all_ranks(vendor, body) == [[1, 2, 3]] * RANKS


def test_abort_ends_waits_and_refuses_later_calls(vendor):
    def body(rank):
        c, x = rank.communicator, rank.upload([1.0])
        c.check()
        if rank.number == 0:
            c.abort()
            assert c.aborted
            with pytest.raises(VendorError, match="was aborted; create another one"):
                c.all_reduce(x, x)
            return
        c.all_reduce(x, x)  # rank 0 never calls
        with pytest.raises(VendorError, match="aborted by rank 0"):
            rank.synchronize()
        with pytest.raises(VendorError, match="aborted by rank 0"):
            c.check()

    on_all_ranks(vendor, body)


def test_who_waits_for_a_rank_that_is_gone_hears_of_it(vendor):
    def body(rank):
        if rank.number == 0:
            return
        x = rank.upload([1.0])
        rank.communicator.all_reduce(x, x)
        with pytest.raises(VendorError, match="rank 0 has destroyed its part"):
            rank.synchronize()

    on_all_ranks(vendor, body)


def test_create_refuses_what_does_not_fit(vendor):
    c = vendor.communicators
    name = c.unique_id()
    assert name != c.unique_id()
    with pytest.raises(UnavailableError, match="1 of 2 ranks did not join within"):
        c.create(name, 2, 0, seconds=0.01)
    with pytest.raises(VendorError, match="rank 2 of 2"):
        c.create(name, 2, 2)
    with pytest.raises(VendorError, match="was not returned by unique_id of this vendor"):
        c.create(bytes(128), 1, 0)
    with pytest.raises(ArgumentError, match="name has 1 bytes, expected 128"):
        c.create(b"x", 1, 0)
    unknown = bytearray(c.unique_id())
    unknown[40:48] = (1 << 60).to_bytes(8, "little")
    with pytest.raises(VendorError, match="was not returned by unique_id of this vendor"):
        c.create(bytes(unknown), 1, 0)
    alone = c.create(c.unique_id(), 1, 0)
    assert (alone.rank, alone.ranks, alone.aborted) == (0, 1, False)


def test_a_taken_rank_and_another_size_are_refused(vendor):
    def body(rank):
        taken = rank.vendor.communicators
        with pytest.raises(VendorError, match=f"rank {rank.number} is taken"):
            taken.create(name_of[0], RANKS, rank.number, device=rank.number)
        with pytest.raises(VendorError, match="another rank said 3"):
            taken.create(name_of[0], 2, 0)

    names = vendor.communicators.unique_id()
    name_of = [names]

    def run(number):
        communicator = vendor.communicators.create(names, RANKS, number, device=number, seconds=60)
        body(Rank(vendor, communicator))
        meet.wait(60)

    meet = threading.Barrier(RANKS)
    with ThreadPoolExecutor(RANKS) as pool:
        for done in [pool.submit(run, n) for n in range(RANKS)]:
            done.result(60)


def test_calls_refuse_what_they_cannot_do(vendor):
    c = vendor.communicators
    alone = c.create(c.unique_id(), 1, 0)
    half = vendor.tensor(np.ones(2, np.float16))
    with pytest.raises(NotSupportedError, match="cannot be reduced; cast to float32"):
        alone.all_reduce(half, half)
    got = vendor.empty((2,), "float16")
    alone.broadcast(half, got, 0)
    vendor.synchronize()
    assert got.numpy().tolist() == [1, 1]
    with pytest.raises(ArgumentError, match="root=1 is not a rank from 0 to 0"):
        alone.broadcast(half, got, 1)
    stream = vendor.stream()
    with (
        vendor.graphs.capture(stream),
        pytest.raises(NotSupportedError, match="cannot contain collectives"),
    ):
        alone.all_gather(half, got, stream=stream)
    slots = c._slots
    with pytest.raises(VendorError, match="begun no group"):
        slots.call("group_end")
    with pytest.raises(NotSupportedError, match="operation 77"):
        slots.call("all_reduce", alone._pointer, ffi.NULL, ffi.NULL, 0, 9, 77, ffi.NULL)
    with pytest.raises(VendorError, match="root 5 is not one of the 1 ranks"):
        slots.call("broadcast", alone._pointer, ffi.NULL, ffi.NULL, 0, 9, 5, ffi.NULL)
    # Moving nothing is valid, and needs no memory.
    slots.call("all_reduce", alone._pointer, ffi.NULL, ffi.NULL, 0, 9, 0, ffi.NULL)
    vendor.synchronize()


def test_closing_the_vendor_ends_waits(vendor):
    """The default stream of device 0 waits for a rank of another instance, which is closed."""
    name = vendor.communicators.unique_id()
    with load_vendor(dl_vendor().library) as other, ThreadPoolExecutor(2) as pool:
        first = pool.submit(vendor.communicators.create, name, 2, 0, device=0, seconds=60)
        second = pool.submit(other.communicators.create, name, 2, 1, device=1, seconds=60)
        here, there = first.result(60), second.result(60)
        del first, second
        x = vendor.tensor(np.ones(1, np.float32))
        here.all_reduce(x, x)
        del there
    with pytest.raises(VendorError, match=r"rank 1 has destroyed its part|aborted by rank 1"):
        vendor.synchronize()


def test_collectives_are_activities(vendor):
    def body(rank):
        rank.vendor.profiler.start(rank.number)
        x = rank.upload([1.0])
        rank.communicator.all_reduce(x, x)
        rank.vendor.profiler.stop(rank.number)
        found, _ = rank.vendor.profiler.collect(rank.number)
        return [(a.name, a.kind) for a in found]

    for found in on_all_ranks(vendor, body):
        assert ("all_reduce", "collective") in found
