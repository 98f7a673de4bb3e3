"""Collectives between devices on a fake library of collectives, which checks its arguments.

The tests with NCCL's names are for vendors with NCCL or RCCL. The fixture ``communicating`` of a
vendor's conftest.py has three devices and the fake library.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .simulated_vendor import SimulatedVendor

PRELUDE = """
    from concurrent.futures import ThreadPoolExecutor
    from diopi_proto import NotSupportedError, UnavailableError
    class Rank:
        def __init__(self, communicator):
            self.communicator, self.number = communicator, communicator.rank
        def put(self, values, dtype="float32"):
            return vendor.tensor(np.asarray(values, dtype), device=self.number)
        def room(self, count, dtype="float32"):
            return vendor.empty((count,), dtype, device=self.number)
    def on_ranks(body, ranks=3):
        name = vendor.communicators.unique_id()
        def run(number):
            made = vendor.communicators.create(name, ranks, number, device=number, seconds=60)
            result = body(Rank(made))
            vendor.synchronize(number)
            return result
        with ThreadPoolExecutor(ranks) as pool:
            return list(pool.map(run, range(ranks)))
"""


def run_ranks(communicating: SimulatedVendor, code: str) -> str:
    """Run code that uses the names of ``PRELUDE``, and two facts about the vendor."""
    facts = f"""
    UNREDUCED, AVERAGES = {communicating.unreduced!r}, {communicating.averages}
    """
    return communicating.run_on_vendor(facts + PRELUDE + code)


def test_collectives(communicating: SimulatedVendor) -> None:
    code = """
    def body(rank):
        c, n = rank.communicator, rank.number
        for dtype in ("float32", "int64"):
            x = rank.put([n, 10, n + 2], dtype)
            for operation, wanted in (("sum", [3, 30, 9]), ("maximum", [2, 10, 4]),
                                      ("minimum", [0, 10, 2]), ("product", [0, 1000, 24])):
                out = rank.room(3, dtype)
                c.all_reduce(x, out, reduce=operation)
                assert out.numpy().tolist() == wanted, operation
        x = rank.put([n, 3])
        average = lambda: c.all_reduce(x, x, reduce="average")
        if AVERAGES:
            average()
            assert x.numpy().tolist() == [1, 3]
        else:
            expect_error(average, "no average; reduce by sum", kind=NotSupportedError)
        out = rank.put([-1, -1])
        c.reduce(rank.put([n, 1]), out, root=1)
        assert out.numpy().tolist() == ([3, 3] if n == 1 else [-1, -1])
        c.broadcast(rank.put([n, n + 7]), out, root=2)
        assert out.numpy().tolist() == [2, 9]
        whole = rank.room(6, "int16")
        c.all_gather(rank.put([n, -n], "int16"), whole)
        assert whole.numpy().tolist() == [0, 0, 1, -1, 2, -2]
        part = rank.room(2)
        c.reduce_scatter(rank.put(np.arange(6) + n), part)
        assert part.numpy().tolist() == [6 * n + 3, 6 * n + 6]
        exchanged = rank.room(3, "float64")
        c.all_to_all(rank.put([10 * n, 10 * n + 1, 10 * n + 2], "float64"), exchanged)
        assert exchanged.numpy().tolist() == [n, 10 + n, 20 + n]
        return c.rank
    assert on_ranks(body) == [0, 1, 2]
    """
    run_ranks(communicating, code)


def test_gathers_scatters_and_messages(communicating: SimulatedVendor) -> None:
    code = """
    def body(rank):
        c, n = rank.communicator, rank.number
        whole = rank.put([-1] * 3) if n == 1 else None
        c.gather(rank.put([n * n]), whole, root=1)
        if n == 1:
            assert whole.numpy().tolist() == [0, 1, 4]
        part = rank.room(1)
        c.scatter(rank.put([5, 6, 7]) if n == 0 else None, part, root=0)
        assert part.numpy().tolist() == [5 + n]
        right, left = (n + 1) % 3, (n + 2) % 3
        heard = rank.room(1)
        with vendor.communicators.group():
            c.send(part, right)
            c.receive(heard, left)
        assert heard.numpy().tolist() == [5 + left]
    on_ranks(body)
    """
    run_ranks(communicating, code)


def test_messages_follow_the_work_of_their_stream(communicating: SimulatedVendor) -> None:
    code = """
    def body(rank):
        part, heard = rank.put([5]), rank.room(1)
        vendor.op.AddInp(part, part, 1, synchronize=False)
        if rank.number == 0:
            rank.communicator.send(part, 1)
        else:
            rank.communicator.receive(heard, 0)
            assert heard.numpy().tolist() == [10]
    on_ranks(body, 2)
    """
    run_ranks(communicating, code)


def test_several_messages_of_a_group_arrive_in_order(communicating: SimulatedVendor) -> None:
    code = """
    def body(rank):
        c, n = rank.communicator, rank.number
        sent = [rank.put([100 * n + i]) for i in range(3)]
        heard = [rank.room(1) for _ in sent]
        with vendor.communicators.group():
            for one in sent:
                c.send(one, 1 - n)
            with vendor.communicators.group():
                for one in heard[:2]:
                    c.receive(one, 1 - n)
        c.receive(heard[2], 1 - n)
        own = rank.room(1)
        with vendor.communicators.group():
            c.send(sent[0], n)
            c.receive(own, n)
        got = [int(one.numpy()[0]) for one in (*heard, own)]
        assert got == [100 * (1 - n) + i for i in range(3)] + [100 * n], got
    on_ranks(body, 2)
    """
    run_ranks(communicating, code)


def test_invalid_calls_are_reported(communicating: SimulatedVendor) -> None:
    code = """
    name = vendor.communicators.unique_id()
    create = vendor.communicators.create
    expect_error(lambda: create(name, 2, 2), "rank 2 of 2 ranks")
    early = lambda: create(name, 2, 0, seconds=0.05)
    expect_error(early, "not all of 2 ranks", kind=UnavailableError)
    def body(rank):
        c, x = rank.communicator, rank.put([1, 2, 3])
        other = rank.put([1, 2, 3], UNREDUCED)
        unsupported = NotSupportedError
        expect_error(lambda: c.all_reduce(other, other), "cast to float32", kind=unsupported)
        expect_error(lambda: c.all_to_all(x, x), "in place", kind=unsupported)
        expect_error(lambda: c._slots.call("group_end"), "has not begun a group")
        c.abort()
        assert c.aborted
        expect_error(lambda: c.all_reduce(x, x), "was aborted; create another one")
        expect_error(c.check, "was aborted")
    on_ranks(body)
    """
    run_ranks(communicating, code)


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        (
            "FAKE_NCCL_FAIL",
            "ncclAllReduce:1",
            "unhandled cuda error: injected failure (NCCL_DEBUG=WARN",
        ),
        ("FAKE_NCCL_FAIL", "ncclCommInitRankConfig:2", "unhandled system error: injected failure"),
        ("FAKE_NCCL_FAIL", "ncclGetUniqueId:3", "internal error"),
        ("FAKE_NCCL_ASYNC", "6", "remote process exited or there was a network error"),
    ],
)
def test_failures_of_nccl_are_reported(
    communicating: SimulatedVendor, variable: str, value: str, words: str
) -> None:
    code = """
    def body(rank):
        x = rank.put([1])
        rank.communicator.all_reduce(x, x)
    expect_error(lambda: on_ranks(body), WORDS)
    """.replace("WORDS", repr(words))
    run_ranks(communicating.with_variables(**{variable: value}), code)


def test_ranks_that_disagree_are_an_error(communicating: SimulatedVendor) -> None:
    code = """
    def body(rank):
        x = rank.put([1] * (1 + rank.number))
        rank.communicator.all_reduce(x, x)
    expect_error(lambda: on_ranks(body, 2), "calls with different arguments")
    """
    run_ranks(communicating, code)


TORCH_RANK = """
import os, sys, time, torch, torch.distributed as dist
rank = int(sys.argv[1])
store = dist.FileStore(sys.argv[2], 2)
dist.init_process_group("dicl", store=store, rank=rank, world_size=2)
"""
COLLECTIVES = """
x = torch.arange(4.0, device="dl") + rank
dist.all_reduce(x)
whole = torch.empty(8, device="dl")
dist.all_gather_single(whole, x)
dist.all_reduce(x, dist.ReduceOp.AVG)
dist.barrier()
print(x.cpu().tolist(), whole.sum().item(), flush=True)
dist.destroy_process_group()
os._exit(0)
"""
LOSING = """
x = torch.ones(4, device="dl")
dist.all_reduce(x)
torch.dl.synchronize()
if rank == 1:
    os._exit(0)
for _ in range(2):
    try:
        while True:
            dist.all_reduce(x)
            torch.dl.synchronize()
    except Exception as error:
        print(type(error).__name__, error, flush=True)
        time.sleep(1)  # until the failure of the group is known
os._exit(0)
"""


def run_torch_ranks(vendor: SimulatedVendor, program: str, store: str) -> str:
    """Run a program with torch on two ranks, and return their output."""
    code = f"""
    import subprocess, sys
    ranks = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", {TORCH_RANK + program!r}, str(rank), {store!r}],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    for rank in ranks:
        out, error = rank.communicate(timeout=90)
        print(out, error)
    """
    return vendor.with_devices(1).run(code)


def test_torch_uses_it(communicating: SimulatedVendor, tmp_path: Path) -> None:
    output = run_torch_ranks(communicating, COLLECTIVES, str(tmp_path / "store"))
    assert output.count("[1.0, 3.0, 5.0, 7.0] 32.0") == 2, output
    # The library was used, not gloo: its ranks have exchanged files, also for the average.
    assert list(tmp_path.glob("*/collective-2.1"))


def test_a_rank_that_dies_is_an_error_of_the_others(
    communicating: SimulatedVendor, tmp_path: Path
) -> None:
    output = run_torch_ranks(communicating, LOSING, str(tmp_path / "store"))
    # The call that waits fails, or the next one.
    assert "remote" in output, output
