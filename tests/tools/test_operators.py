"""Operator calls that the main job counts, and their native share."""

from __future__ import annotations

import pytest

from tools.train_job.operators import OperatorTime, computes, merge, native_share, operator_times


@pytest.mark.parametrize(
    "overload",
    ["add.Tensor", "aten::mm", "add_.Tensor", "add.out", "zero_", "native_batch_norm", "cat"],
)
def test_computation_counts(overload: str) -> None:
    assert computes(overload)


@pytest.mark.parametrize(
    "overload",
    [
        *("view", "transpose.int", "aten::select.int", "split.Tensor", "_unsafe_view", "squeeze_"),
        *("empty.memory_format", "resize_", "copy_", "_copy_from", "clone", "_local_scalar_dense"),
        "is_pinned",
    ],
)
def test_views_metadata_allocation_and_copies_do_not_count(overload: str) -> None:
    assert not computes(overload)


def test_operator_of_another_library_counts() -> None:
    assert computes("other::fused_norm")


def test_share_is_by_calls_and_by_time() -> None:
    native = [OperatorTime("add.Tensor", 3, 1.0)]
    fallback = [OperatorTime("mm", 1, 3.0)]
    share = native_share(native, fallback)
    assert (share.by_calls, share.by_time, share.calls) == (0.75, 0.25, 4)


def test_share_of_nothing_is_zero() -> None:
    share = native_share([], [])
    assert (share.by_calls, share.by_time, share.calls) == (0.0, 0.0, 0)


def test_statistics_lose_what_does_not_compute_and_what_was_not_called() -> None:
    statistics = {
        "mm": {"count": 2, "nanoseconds": 3_000_000_000},
        "view": {"count": 9, "nanoseconds": 1},
        "bmm": {"count": 0, "nanoseconds": 0},
    }
    assert operator_times(statistics) == [OperatorTime("mm", 2, 3.0)]


def test_merge_adds_up_and_puts_the_slowest_first() -> None:
    one = [OperatorTime("add.Tensor", 1, 1.0), OperatorTime("mm", 1, 1.0)]
    other = [OperatorTime("mm", 2, 4.0)]
    assert merge([one, other]) == [OperatorTime("mm", 3, 5.0), OperatorTime("add.Tensor", 1, 1.0)]
