"""Failures are reported on the remaining ranks: no hang, no crash."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import CARRIERS, start_ranks
from .ranks import RankError, Ranks

pytestmark = pytest.mark.vendor("cpu")  # the ranks select their own vendors

NAMES_THE_CALL = r"\[dicl\] all_reduce of float32 \[4\] on dl:0 of rank 0 with rank 1 of group"


@pytest.fixture
def doomed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ranks]:
    """Ranks that only one test uses."""
    pair = start_ranks(request.param, tmp_path)
    yield pair
    pair.close()


@pytest.mark.parametrize("doomed", CARRIERS, indirect=True)
def test_a_killed_rank_is_reported_by_the_other(doomed: Ranks) -> None:
    with pytest.raises(RankError) as told:
        doomed.run("failing.killed")
    assert "rank 1: the process was ended by SIGKILL" in str(told.value)
    assert "rank 0: Traceback" in str(told.value)
    told.match(NAMES_THE_CALL)
    told.match(r"\(2 ranks, call \d+\) failed: another rank has exited.*\(timeout 30 s\)")


def test_sizes_that_differ_are_named_by_the_debug_mode() -> None:
    pair = Ranks(DL_VENDORS="cpu", TORCH_DISTRIBUTED_DEBUG="DETAIL")
    try:
        with pytest.raises(RankError, match=r"mismatch between.*TensorShape=\[4\].*\[1000\]"):
            pair.run("failing.sizes_differ")
    finally:
        pair.close()


def test_ranks_of_a_communicator_that_disagree_hear_of_it() -> None:
    pair = Ranks(**CARRIERS["communicator"])
    try:
        with pytest.raises(RankError) as told:
            pair.run("failing.sizes_differ")
        assert str(told.value).count("Traceback") == 2
        told.match("ranks disagree")
    finally:
        pair.close()


def test_a_rank_that_does_not_come_is_reported_in_time(ranks: Ranks) -> None:
    for operation, said in zip(("all_reduce", "recv"), ranks.run("failing.late")[0], strict=True):
        assert f"[dicl] {operation} of float32 [4] on dl:0 of rank 0 with rank 1" in said
        assert "not every rank joined within the timeout of 1 s" in said


def test_a_wait_may_have_a_timeout_of_its_own(ranks: Ranks) -> None:
    said = ranks.run("failing.waits_shortly")[0]
    assert "all_reduce of float32 [4]" in said
    assert "has not completed within the 0.1 s passed to wait()" in said


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("overlapping", "several elements of an output of sizes [4] and strides [0]"),
        ("wrong_size", "2 parts of Float [3] do not fill Float [5]"),
        ("wrong_dtype", "2 parts of Float [2] do not fill Double [4]"),
        ("bits_of_floats", "ReduceOp.BXOR has no meaning for, or is not known of Float"),
        ("average_of_truth", "ReduceOp.AVG has no meaning for, or is not known of Bool"),
        ("uneven_rows", "the 3 rows of the output cannot be shared evenly among 2 ranks"),
        ("two_devices", "all tensors of a call have to be on one device"),
    ],
)
def test_bad_calls_are_refused_by_every_rank(ranks: Ranks, program: str, message: str) -> None:
    for said in ranks.run(f"failing.{program}"):
        assert f"[dicl] {message}" in said or message in said, said


@pytest.mark.parametrize("ranks", ["communicator"], indirect=True)
def test_a_communicator_keeps_to_one_device(ranks: Ranks) -> None:
    for said in ranks.run("failing.on_another_device"):
        assert "[dicl] this group is connected on dl:0, and the tensor is on dl:1" in said
        assert "or set DL_DISTRIBUTED=gloo on all ranks" in said


def test_a_destroyed_group_says_so(ranks: Ranks) -> None:
    for said in ranks.run("failing.destroyed"):
        assert "group" in said


ALONE = """
import warnings
import torch, torch.distributed as dist
warnings.simplefilter("ignore")
dist.init_process_group(store=dist.HashStore(), rank=0, world_size=1)
assert dist.get_backend_config() == "dl:dicl", dist.get_backend_config()
assert dist.get_default_backend_for_device("dl") == "dicl"
assert dist.get_default_backend_for_device("cpu") == "gloo"
assert dist.is_backend_available("dicl")
x = torch.arange(4.0, device="dl")
dist.all_reduce(x)
parts = [torch.empty(4, device="dl")]
dist.all_gather(parts, x)
out = torch.empty(4, device="dl")
dist.reduce_scatter_tensor(out, x, dist.ReduceOp.AVG)
dist.all_to_all_single(out, x)
dist.barrier()
assert parts[0].tolist() == out.tolist() == [0, 1, 2, 3]
dist.destroy_process_group()
print("done")
"""

LATE_INIT = """
import datetime
import torch, torch.distributed as dist
try:
    dist.init_process_group(
        "dicl",
        store=dist.HashStore(),
        rank=0,
        world_size=2,
        timeout=datetime.timedelta(seconds=1),
    )
except dist.DistError as error:
    print(error)
"""


def output(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_rank_alone_and_the_backend_of_default() -> None:
    assert output(ALONE) == "done\n"


def test_a_rank_that_never_starts_is_reported() -> None:
    said = output(LATE_INIT)
    assert "[dicl] rank 0 cannot join group 0 of 2 ranks within 1 s" in said
    assert "give init_process_group() a longer timeout" in said
