"""Each test of the extensions fails with a vendor that gives the corresponding wrong answer.

Violations that the contract lets a host check are found by the host, as an error that names the
vendor. All other violations are found by the tests of the right answers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import test_communicator
import test_graph
import test_peer
import test_profiler
from child import Child
from diopi_proto import Vendor, VendorError, load_vendor
from dl_vendor_async_test.plugin import dl_vendor
from test_shared_memory import EXPORT

Use = Callable[[Vendor], object]


def all_reduce(vendor: Vendor) -> None:
    test_communicator.test_all_reduce(vendor, "sum", [6, 15], "float32")


def reduce_scatter(vendor: Vendor) -> None:
    def body(rank):
        ranks = test_communicator.RANKS
        many, part = rank.upload(list(range(ranks))), rank.room(1)
        rank.communicator.reduce_scatter(many, part)
        rank.synchronize()
        return part.numpy().tolist()

    found = test_communicator.on_all_ranks(vendor, body)
    assert found == [[0], [3], [6]]


def shared_memory(vendor: Vendor) -> None:
    with Child(EXPORT + "hear(); say(memory.numpy()[:1].tolist()); hear()") as child:
        memory = vendor.peers.open_memory(bytes.fromhex(child.hear()), (1000,))
        vendor.op.diopiAddInpScalar(memory, 5, 1)
        child.say()
        assert child.hear() == "[5.0]"


WRONG: list[tuple[str, Use]] = [
    (
        "capture_runs_its_work",
        test_graph.test_captured_work_runs_with_each_launch_and_not_before,
    ),
    (
        "replay_skips_the_last_node",
        test_graph.test_captured_work_runs_with_each_launch_and_not_before,
    ),
    (
        "activity_is_of_another_stream",
        test_profiler.test_activities_have_names_kinds_bytes_and_order,
    ),
    ("clock_is_a_second_off", test_profiler.test_the_clock_ties_device_time_to_the_hosts),
    ("reduction_forgets_a_rank", all_reduce),
    ("reduction_forgets_a_rank", reduce_scatter),
    ("parts_are_in_the_wrong_order", test_communicator.test_every_other_collective),
    (
        "message_is_one_byte_short",
        test_communicator.test_messages_of_a_group_do_not_wait_for_each_other,
    ),
    (
        "peer_copy_is_one_byte_short",
        test_peer.test_copies_between_devices_in_the_order_of_the_source_stream,
    ),
    ("opened_memory_is_a_copy", shared_memory),
]


def open_vendor(monkeypatch: pytest.MonkeyPatch, lie: str = "") -> Vendor:
    monkeypatch.setenv("DL_ASYNC_TEST_LIE", lie)
    monkeypatch.setenv("DL_ASYNC_TEST_DEVICES", str(test_communicator.RANKS))
    opened = load_vendor(dl_vendor().library)
    # Other processes and later instances answer correctly.
    monkeypatch.delenv("DL_ASYNC_TEST_LIE")
    return opened


@pytest.mark.parametrize(("lie", "use"), WRONG, ids=[f"{x}-{y.__name__}" for x, y in WRONG])
def test_a_wrong_answer_fails_the_test_of_the_right_one(monkeypatch, lie, use):
    with open_vendor(monkeypatch) as vendor:
        use(vendor)
    with open_vendor(monkeypatch, lie) as vendor, pytest.raises(AssertionError):
        use(vendor)


def work_and_collect(vendor: Vendor) -> object:
    x = vendor.tensor(np.ones(8, np.float32))
    vendor.profiler.start()
    vendor.op.diopiNeg(x, x)
    vendor.op.diopiRelu(x, x)
    vendor.profiler.stop()
    return vendor.profiler.collect()


def ask_rank(vendor: Vendor) -> object:
    return vendor.communicators.create(vendor.communicators.unique_id(), 1, 0).aborted


FOUND_BY_THE_HOST: dict[str, tuple[Use, str]] = {
    "activity_ends_before_its_start": (work_and_collect, "its record 0 ends before it starts"),
    "activity_is_of_another_device": (work_and_collect, "its record 0 is of device 1, not 0"),
    "activities_are_out_of_order": (
        work_and_collect,
        "its record 1 starts before the previous one",
    ),
    "clock_is_uncertain_below_zero": (lambda v: v.profiler.clock(), "clock is uncertain by -1 n"),
    "rank_is_none": (ask_rank, "its communicator is rank -1 of 1"),
}


@pytest.mark.parametrize("lie", FOUND_BY_THE_HOST)
def test_a_wrong_answer_is_found_out_by_the_host(monkeypatch, lie):
    use, told = FOUND_BY_THE_HOST[lie]
    with open_vendor(monkeypatch) as vendor:
        use(vendor)
    with open_vendor(monkeypatch, lie) as vendor, pytest.raises(VendorError) as caught:
        use(vendor)
    assert f"{told}" in str(caught.value) and "a defect of the vendor" in str(caught.value)


def test_an_answer_that_is_not_known_is_refused(monkeypatch):
    monkeypatch.setenv("DL_ASYNC_TEST_LIE", "everything")
    with pytest.raises(VendorError, match="DL_ASYNC_TEST_LIE='everything' is not a wrong answer"):
        load_vendor(dl_vendor().library)
