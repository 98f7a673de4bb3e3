"""Tests of collectives between devices: a fake HCCL, which checks its arguments."""

from __future__ import annotations

from pathlib import Path

import pytest
from extension_tests import communicators
from extension_tests.communicators import (  # noqa: F401 - pytest collects them here
    run_ranks,
    run_torch_ranks,
    test_collectives,
    test_gathers_scatters_and_messages,
    test_invalid_calls_are_reported,
    test_several_messages_of_a_group_arrive_in_order,
)
from extension_tests.simulated_vendor import SimulatedVendor

from conftest import with_fakes
from processes import compile_hccl, doctor


@pytest.fixture
def communicating(fake_vendor: SimulatedVendor, hccl: str, tmp_path: Path) -> SimulatedVendor:
    return fake_vendor.with_devices(3).with_variables(
        DL_ASCEND_HCCL=hccl, FAKE_HCCL_FOLDER=str(tmp_path)
    )


@pytest.fixture
def computing(simulated_vendor: SimulatedVendor, tmp_path: Path) -> SimulatedVendor:
    """Return the vendor with operators, too."""
    return simulated_vendor.with_devices(3).with_variables(FAKE_HCCL_FOLDER=str(tmp_path))


@with_fakes
def test_messages_follow_the_work_of_their_stream(computing: SimulatedVendor) -> None:
    communicators.test_messages_follow_the_work_of_their_stream(computing)


@with_fakes
def test_torch_uses_it(computing: SimulatedVendor, tmp_path: Path) -> None:
    communicators.test_torch_uses_it(computing, tmp_path)


@with_fakes
def test_a_rank_that_dies_is_an_error_of_the_others(
    computing: SimulatedVendor, tmp_path: Path
) -> None:
    communicators.test_a_rank_that_dies_is_an_error_of_the_others(computing, tmp_path)


@with_fakes
def test_a_rank_that_is_lost_in_a_call_is_an_error_of_the_others(
    computing: SimulatedVendor, tmp_path: Path
) -> None:
    program = """
x = torch.ones(4, device="dl")
dist.all_reduce(x)
torch.dl.synchronize()
if rank == 1:
    os.environ["FAKE_HCCL_EXIT"] = "HcclAllGather"
whole = torch.empty(8, device="dl")
for _ in range(2):
    try:
        while True:
            dist.all_gather_single(whole, x)
            torch.dl.synchronize()
    except Exception as error:
        print(type(error).__name__, error, flush=True)
        time.sleep(1)  # until the failure of the group is known
os._exit(0)
"""
    output = run_torch_ranks(computing, program, str(tmp_path / "store"))
    assert "remote error (21)" in output, output


def test_reductions_that_hccl_lacks_are_declined(communicating: SimulatedVendor) -> None:
    code = """
    def body(rank):
        for dtype in ("int8", "int16", "int32", "int64", "float16", "float32"):
            x = rank.put([1 + rank.number, 3], dtype)
            rank.communicator.all_reduce(x, x)
            assert x.numpy().tolist() == [3, 6], dtype
        for dtype in ("uint8", "uint16", "float64", "bool"):
            x = rank.put([1, 1], dtype)
            call = lambda: rank.communicator.all_reduce(x, x)
            expect_error(call, "cast to float32", kind=NotSupportedError)
        x = rank.put([2, 3], "int16")
        call = lambda: rank.communicator.all_reduce(x, x, reduce="product")
        expect_error(call, "no products of int16 and bfloat16", kind=NotSupportedError)
    on_ranks(body, 2)
    """
    run_ranks(communicating, code)


def test_a_call_returns_before_its_rank_is_joined_by_others(
    communicating: SimulatedVendor,
) -> None:
    code = """
    import threading
    called = threading.Event()
    def body(rank):
        x = rank.put([1 + rank.number])
        stream = vendor.stream(rank.number)
        if rank.number == 1:
            assert called.wait(30)
        rank.communicator.all_reduce(x, x, stream=stream)
        assert rank.number == 1 or not stream.query()
        called.set()
        stream.synchronize()
        assert x.numpy().tolist() == [3]
    on_ranks(body, 2)
    """
    run_ranks(communicating, code)


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("FAKE_HCCL_FAIL", "HcclAllReduce:4", "internal error (4): EI4: injected failure"),
        ("FAKE_HCCL_FAIL", "HcclCommInitRootInfo:1", "HcclCommInitRootInfo"),
        ("FAKE_HCCL_FAIL", "HcclCommInitRootInfo:9", "not all of 3 ranks connected"),
        ("FAKE_HCCL_FAIL", "HcclGetRootInfo:4", "HcclGetRootInfo"),
        ("FAKE_HCCL_FAIL", "HcclGetCommAsyncError:4", "HcclGetCommAsyncError"),
        ("FAKE_HCCL_ASYNC", "21", "remote error (21)"),
    ],
)
def test_failures_of_hccl_are_reported(
    communicating: SimulatedVendor, variable: str, value: str, words: str
) -> None:
    code = f"""
    def body(rank):
        x = rank.put([1])
        rank.communicator.all_reduce(x, x)
        vendor.synchronize(rank.number)
        rank.communicator.check()
    expect_error(lambda: on_ranks(body), {words!r})
    """
    run_ranks(communicating.with_variables(**{variable: value}), code)


def test_work_after_an_abort_fails(communicating: SimulatedVendor) -> None:
    """A rank that waits for others is released by an abort."""
    code = """
    def body(rank):
        x = rank.put([1])
        if rank.number == 0:
            rank.communicator.all_reduce(x, x)  # without the other rank
            rank.communicator.abort()
            expect_error(lambda: vendor.synchronize(0), "507904")
            expect_error(rank.communicator.check, "was aborted")
    try:
        on_ranks(body, 2)
    except VendorError as error:
        assert "507904" in str(error), error
    """
    run_ranks(communicating, code)


def test_ranks_that_disagree_are_an_error(communicating: SimulatedVendor) -> None:
    code = """
    def body(rank):
        x = rank.put([1] * (1 + rank.number))
        rank.communicator.all_reduce(x, x)
        expect_error(lambda: vendor.synchronize(rank.number), "507904")
        words = "parameter error (1)", "calls with different arguments"
        expect_error(rank.communicator.check, *words)
    on_ranks(body, 2)
    """
    run_ranks(communicating, code)


def test_an_older_library_is_named(
    fake_vendor: SimulatedVendor, runtime: str, tmp_path: Path
) -> None:
    code = """
    words = "has no function HcclBatchSendRecv: it is older than CANN 8.1"
    expect_error(vendor.communicators.unique_id, words)
    """
    old = compile_hccl(tmp_path, runtime, "-DOLD")
    fake_vendor.with_variables(DL_ASCEND_HCCL=old).run_on_vendor(code)


def test_without_hccl_there_is_no_communicator(runtime: str) -> None:
    found = doctor(DL_ASCEND_DRIVER=runtime, DL_ASCEND_HCCL="off")
    assert "communicator" not in found["extensions"]
    assert found["libraries"]["HCCL"] == "off (DL_ASCEND_HCCL)"


def test_the_doctor_shows_it(communicating: SimulatedVendor) -> None:
    found = communicating.doctor()
    assert "communicator" in found["extensions"]
    assert found["libraries"]["HCCL"] == communicating.variables["DL_ASCEND_HCCL"]
