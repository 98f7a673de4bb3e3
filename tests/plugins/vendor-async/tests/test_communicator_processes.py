"""Tests of ranks in several processes, which meet in the process of unique_id."""

from __future__ import annotations

import ast
import os
import threading

import numpy as np
import pytest

from child import Child
from diopi_proto import UnavailableError, VendorError, load_vendor
from dl_vendor_async_test.plugin import dl_vendor
from driver import TIMEOUT_SECONDS
from test_communicator import Rank, every_other_collective, expected_of

JOIN = """
from diopi_proto import DiopiError
from test_communicator import Rank, every_other_collective

def join(ranks, number):
    name = bytes.fromhex(hear())
    return vendor.communicators.create(name, ranks, number, device=0, seconds=60)

def attempt(*calls):
    try:
        for call in calls:
            call()
        say("nothing")
    except DiopiError as error:
        say(str(error))
"""


@pytest.fixture
def vendor(monkeypatch):
    monkeypatch.setenv("DL_ASYNC_TEST_DEVICES", "3")
    with load_vendor(dl_vendor().library) as opened:
        yield opened


def start(vendor, children, ranks=None, seconds=60):
    """Start rank 0 here, and the other ranks in children that receive the id."""
    name = vendor.communicators.unique_id()
    for child in children:
        child.say(name.hex())
    ranks = ranks or 1 + len(children)
    return vendor.communicators.create(name, ranks, 0, device=0, seconds=seconds)


def test_all_reduce_of_two_processes(vendor):
    """4 MiB do not fit into a socket buffer."""
    code = """
c = join(2, 1)
x = vendor.tensor(np.arange(1 << 20, dtype=np.float32))
c.all_reduce(x, x)
got = x.numpy()
say(bool(np.array_equal(got, 3 * np.arange(1 << 20, dtype=np.float32))))
hear()
"""
    with Child(JOIN + code) as child:
        c = start(vendor, [child])
        x = vendor.tensor(2 * np.arange(1 << 20, dtype=np.float32))
        c.all_reduce(x, x)
        assert np.array_equal(x.numpy(), 3 * np.arange(1 << 20, dtype=np.float32))
        assert child.hear() == "True"
        c.check()


def test_every_other_collective_of_three_processes(vendor):
    code = """
rank = Rank(vendor, join(3, {me}))
say(every_other_collective(rank))
hear()
"""
    children = [Child(JOIN + code.format(me=me)) for me in (1, 2)]
    with children[0], children[1]:
        rank = Rank(vendor, start(vendor, children))
        assert every_other_collective(rank) == expected_of(0)
        for me, child in enumerate(children, 1):
            assert ast.literal_eval(child.hear()) == expected_of(me)


def test_two_ranks_may_share_a_process_that_is_not_the_first(vendor):
    code = """
from concurrent.futures import ThreadPoolExecutor
name = bytes.fromhex(hear())
def run(me):
    c = vendor.communicators.create(name, 3, me, device=me - 1, seconds=60)
    x = vendor.tensor(np.array([me], np.int64), device=me - 1)
    c.all_reduce(x, x)
    return x.numpy().tolist(), c
with ThreadPoolExecutor(2) as pool:
    done = list(pool.map(run, (1, 2)))
say([x for x, _ in done])
hear()
"""
    with Child(JOIN + code) as child:
        c = start(vendor, [child], ranks=3)
        x = vendor.tensor(np.array([10], np.int64))
        c.all_reduce(x, x)
        assert x.numpy().tolist() == [13]
        assert child.hear() == "[[13], [13]]"


def test_messages_of_a_group_cross_processes(vendor):
    code = """
c = join(2, 1)
send, receive = vendor.tensor(np.array([7.0], np.float32)), vendor.empty((1,))
with vendor.communicators.group():
    c.receive(receive, 0)
    c.send(send, 0)
say(receive.numpy().tolist())
hear()
"""
    with Child(JOIN + code) as child:
        c = start(vendor, [child])
        send, receive = vendor.tensor(np.array([3.0], np.float32)), vendor.empty((1,))
        with vendor.communicators.group():
            c.receive(receive, 1)
            c.send(send, 1)
        assert receive.numpy().tolist() == [7]
        assert child.hear() == "[3.0]"


def test_ranks_that_disagree_hear_of_it_in_both_processes(vendor):
    code = """
c = join(2, 1)
x = vendor.empty((4,))
attempt(lambda: c.all_reduce(x, x, "maximum"), vendor.synchronize)
attempt(c.check)
hear()
"""
    with Child(JOIN + code) as child:
        c = start(vendor, [child])
        x = vendor.empty((4,))
        c.all_reduce(x, x)
        with pytest.raises(VendorError, match="ranks disagree: one enqueued all_reduce of 4"):
            vendor.synchronize()
        assert "ranks disagree" in child.hear() and "ranks disagree" in child.hear()


@pytest.mark.parametrize("forked", [False, True])
def test_a_rank_that_is_killed_ends_the_wait_of_the_others(vendor, forked):
    """The wait also ends if a process that the rank forked still has its sockets."""
    fork = "child = os.fork()\nif child == 0:\n    hear(); os._exit(0)\n" if forked else ""
    with Child(JOIN + f"c = join(2, 1)\n{fork}say('joined')\nhear()") as child:
        c = start(vendor, [child])
        assert child.hear() == "joined"
        x = vendor.empty((4,))
        c.all_reduce(x, x)
        child.kill()
        with pytest.raises(
            VendorError, match="rank 1 has destroyed its part of the communicator, or has ended"
        ):
            vendor.synchronize()
        with pytest.raises(VendorError, match="rank 1 has destroyed its part"):
            c.check()


def test_the_end_of_the_process_where_they_meet_ends_the_wait_of_the_others(vendor):
    code = """
name = vendor.communicators.unique_id()
say(name.hex())
c = vendor.communicators.create(name, 2, 0, seconds=60)
say("joined")
hear()
"""
    with Child(JOIN + code) as child:
        name = bytes.fromhex(child.hear())
        c = vendor.communicators.create(name, 2, 1, seconds=60)
        assert child.hear() == "joined"
        x = vendor.empty((4,))
        c.all_reduce(x, x)
        child.kill()
        # The process ends while the stream waits for it, or before that.
        ended = "( has ended, and with it|, which made the id, cannot be reached: it has ended)"
        with pytest.raises(VendorError, match=rf"process {child.number}{ended}"):
            vendor.synchronize()
        c.abort()  # no longer has an effect, and does not hang
        with pytest.raises(UnavailableError, match="cannot be reached: it has ended"):
            vendor.communicators.create(name, 2, 1, seconds=60)


@pytest.mark.parametrize("who", ["here", "there"])
def test_abort_reaches_the_other_process(vendor, who):
    code = f"""
c = join(2, 1)
x = vendor.empty((4,))
if {who == "there"}:
    hear()
    c.abort()
    attempt(lambda: c.all_reduce(x, x))
else:
    c.all_reduce(x, x)
    say("enqueued")
    attempt(vendor.synchronize)
hear()
"""
    with Child(JOIN + code) as child:
        c, x = start(vendor, [child]), vendor.empty((4,))
        if who == "here":
            assert child.hear() == "enqueued"
            c.abort()
            assert "aborted by rank 0" in child.hear()
        else:
            c.all_reduce(x, x)
            child.say()
            with pytest.raises(VendorError, match="aborted by rank 1"):
                vendor.synchronize()
            assert "was aborted; create another one" in child.hear()


def test_missing_ranks_are_reported_after_the_timeout(vendor):
    code = """
name = bytes.fromhex(hear())
attempt(lambda: vendor.communicators.create(name, 3, 1, seconds=0.01))
attempt(lambda: vendor.communicators.create(name, 3, 3, seconds=0.01))
hear()
"""
    with Child(JOIN + code) as child:
        child.say(vendor.communicators.unique_id().hex())
        assert "2 of 3 ranks did not join within" in child.hear()
        assert "rank 3 of 3 ranks" in child.hear()


def test_a_closed_vendor_leaves_its_communicators(vendor):
    code = """
c = join(2, 1)
del c
vendor.close()
say("closed")
hear()
"""
    with Child(JOIN + code) as child:
        c = start(vendor, [child])
        assert child.hear() == "closed"
        x = vendor.empty((4,))
        c.all_reduce(x, x)
        with pytest.raises(VendorError, match=r"rank 1 has destroyed its part|aborted by rank 1"):
            vendor.synchronize()


def test_an_id_of_another_user_is_refused(vendor):
    name = bytearray(vendor.communicators.unique_id())
    name[32:36] = (12345).to_bytes(4, "little")
    with pytest.raises(VendorError, match="the id is of user 12345, and this is"):
        vendor.communicators.create(bytes(name), 2, 0, seconds=60)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_is_not_let_in(vendor):
    """The system reports the peer's user to both sides, whatever the peer sends."""
    code = """
import socket
name = bytearray.fromhex(hear())
vendor.close()
os.setuid(12345)
vendor = load_vendor(dl_vendor().library)
name[32:36] = (12345).to_bytes(4, "little")
attempt(lambda: vendor.communicators.create(bytes(name), 2, 1, seconds=60))
with socket.socket(socket.AF_UNIX) as raw:
    raw.connect("\\0dl_vendor_async_test/" + name[48:64].hex())
    try:
        raw.sendall(bytes(4096))
        say(raw.recv(1))
    except (BrokenPipeError, ConnectionResetError):
        say(b"")
hear()
"""
    with Child(JOIN + code) as child:
        child.say(vendor.communicators.unique_id().hex())
        assert "the other rank's process belongs to user 0, and this is 12345" in child.hear()
        assert child.hear() == "b''"


def test_streams_of_one_process_do_not_wait_for_each_other(vendor):
    """A call on the second stream completes while the peer of the first one's call is missing."""
    code = """
c = join(2, 1)
first, second = vendor.stream(), vendor.stream()
x, y = vendor.tensor(np.array([1.0], np.float32)), vendor.tensor(np.array([2.0], np.float32))
c.send(x, 0, stream=first)
c.receive(y, 0, stream=second)
second.synchronize()
say("received")
first.synchronize()
say(y.numpy().tolist())
hear()
"""
    with Child(JOIN + code) as child:
        c = start(vendor, [child])
        c.send(vendor.tensor(np.array([5.0], np.float32)), 1)
        assert child.hear() == "received"
        got = vendor.empty((1,))
        c.receive(got, 1)
        assert got.numpy().tolist() == [1]
        assert child.hear() == "[5.0]"


def test_create_may_wait_for_a_process_that_comes_later(vendor):
    joined = []
    with Child(JOIN + "c = join(2, 1)\nsay('joined')\nhear()") as child:
        name = vendor.communicators.unique_id()
        wait = threading.Thread(
            target=lambda: joined.append(vendor.communicators.create(name, 2, 0, seconds=60))
        )
        wait.start()
        child.say(name.hex())
        assert child.hear() == "joined"
        wait.join(TIMEOUT_SECONDS)
        assert len(joined) == 1
