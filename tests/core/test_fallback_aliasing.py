"""Memory in the fallbacks: sharing, writes and resizes on the CPU also happen on dl.

OpInfo compares values, and its operators never use these features. Each test fails under one of
these mutations of ``host_arguments.cpp``, which were applied by hand, one at a time:

=======================================  ==========================================================
mutation                                 fails here
=======================================  ==========================================================
a resize is not carried back             test_out_is_resized_*, test_in_place_growth_*
no output becomes a view of an argument  test_view_output_*, test_two_view_*, test_list_of_views_*
every argument gets a twin of its own    test_arguments_that_share_memory_grow_together
a returned argument is wrapped again     test_returned_argument_is_*, test_in_place_on_a_view_*
only a list's first tensor counts as
written (staged memory)                  test_list_elements_*
sizes are not carried back               test_out_is_resized_*, test_replaced_storage_*
a replaced storage is not carried back   test_replaced_storage_*
each output gets new memory of its own   test_outputs_that_share_new_memory_share_it
staging ignores the offset               test_view_at_an_offset_is_read_there
aliases are reused while still in use    test_a_tensor_that_a_kernel_keeps_stays_what_it_was
a result that is known elsewhere changes
sides itself                             test_a_result_that_a_kernel_keeps_stays_on_the_cpu
=======================================  ==========================================================
"""

from __future__ import annotations

import pytest
import torch

from .custom_ops import kept, ops
from .lacking import OVERLOAD, lacking


def storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def numbers(count: int, device: str = "dl") -> torch.Tensor:
    return torch.arange(float(count)).to(device)


def test_the_fallback_runs_these() -> None:
    torch.dl.reset_fallback_stats()
    ops.same(numbers(2))
    assert "dl_alias_test::same" in torch.dl.fallback_stats()


def test_view_output_is_a_view_of_the_argument() -> None:
    x = numbers(6)
    view = ops.tail(x, 2)
    assert view.device == x.device
    assert storage(view) == storage(x)
    assert view.storage_offset() == 2
    view.fill_(9)
    assert x.tolist() == [0, 1, 9, 9, 9, 9]


def test_view_output_of_a_view_counts_from_the_storage() -> None:
    x = numbers(8)
    view = ops.tail(x[3:], 2)
    assert storage(view) == storage(x)
    assert view.storage_offset() == 5
    assert view.tolist() == [5, 6, 7]


def test_two_view_outputs_share_the_storage() -> None:
    x = numbers(4)
    low, high = ops.two_parts(x)
    low.fill_(7)
    high.fill_(8)
    assert storage(low) == storage(high) == storage(x)
    assert x.tolist() == [7, 7, 8, 8]


def test_list_of_views_shares_the_storage() -> None:
    x = numbers(6)
    parts = ops.chunks(x, 2)
    assert [storage(part) for part in parts] == [storage(x)] * 3
    parts[1].zero_()
    assert x.tolist() == [0, 1, 0, 0, 4, 5]


def test_list_elements_are_written() -> None:
    tensors = [numbers(2), numbers(3), numbers(1)]
    before = [storage(tensor) for tensor in tensors]
    ops.scatter_ones_(tensors)
    assert [tensor.tolist() for tensor in tensors] == [[1, 1], [2, 2, 2], [3]]
    assert [storage(tensor) for tensor in tensors] == before


def test_list_elements_that_overlap_are_written_in_order() -> None:
    x = numbers(5)
    ops.scatter_ones_([x[:3], x[2:]])
    assert x.tolist() == [1, 1, 2, 2, 2]


def test_out_is_resized_in_place() -> None:
    out = torch.empty(0, device="dl")
    same_storage = torch.empty(0, device="dl").set_(out.untyped_storage())
    result = ops.double_into(numbers(4), out=out)
    assert result is out
    assert out.tolist() == [0, 2, 4, 6]
    assert storage(same_storage) == storage(out)
    assert out.untyped_storage().nbytes() == 16


def test_out_is_resized_while_a_view_lives() -> None:
    out = numbers(2)
    view = out[1:]
    ops.double_into(numbers(4), out=out)
    assert out.tolist() == [0, 2, 4, 6]
    assert storage(view) == storage(out)
    assert view.tolist() == [2]
    view.fill_(5)
    assert out.tolist() == [0, 5, 4, 6]


def test_out_that_shrinks_keeps_its_memory() -> None:
    out = numbers(6)
    pointer = out.data_ptr()
    ops.double_into(numbers(2), out=out)
    assert out.tolist() == [0, 2]
    assert out.data_ptr() == pointer
    assert out.untyped_storage().nbytes() == 24


def test_in_place_growth_keeps_the_elements() -> None:
    x = numbers(3)
    result = ops.grow_(x, 5)
    assert result is x
    assert x.tolist() == [0, 1, 2, -1, -1]


def test_in_place_growth_is_dl_memory() -> None:
    """A storage left with host memory would be freed by the wrong allocator."""
    x = numbers(3)
    before = torch.dl.memory_allocated()
    ops.grow_(x, 1 << 18)
    assert torch.dl.memory_allocated() - before >= (1 << 20) - 512
    del x
    assert torch.dl.memory_allocated() < before


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(lambda x: x[2:5], id="offset"),
        pytest.param(lambda x: x[::2], id="every second"),
        pytest.param(lambda x: x.view(2, 4).t(), id="transposed"),
        pytest.param(lambda x: x.view(2, 4)[:, 1:3], id="window"),
        pytest.param(lambda x: x[3], id="one element"),
        pytest.param(lambda x: x[8:], id="empty"),
    ],
)
def test_in_place_on_a_view_writes_there_and_nowhere_else(view: object) -> None:
    x, expected = numbers(8), numbers(8, "cpu")
    target = view(x)
    result = ops.add_one_(target)
    view(expected).add_(1)
    assert result is target
    assert x.tolist() == expected.tolist()


def test_view_at_an_offset_is_read_there() -> None:
    x = numbers(1000)
    assert ops.write_then_read(numbers(1), x[997:]).tolist() == [997, 998, 999]


def test_view_at_an_odd_byte_offset() -> None:
    x = torch.arange(40, dtype=torch.uint8).to("dl")
    view = ops.tail(x[7:], 3)
    assert view.storage_offset() == 10
    ops.add_one_(view[:2])
    assert x[9:13].tolist() == [9, 11, 12, 12]


def test_overlapping_view_is_read() -> None:
    x = numbers(3)
    expanded = x[1:2].expand(4)
    assert ops.write_then_read(numbers(1), expanded).tolist() == [1, 1, 1, 1]


def test_arguments_that_share_memory_share_it_in_the_kernel() -> None:
    x = numbers(4)
    assert ops.shares_storage(x, x[2:])
    assert ops.write_then_read(x[:2], x).tolist() == [5, 5, 2, 3]
    assert x.tolist() == [5, 5, 2, 3]


def test_arguments_that_share_memory_in_two_dtypes_share_it_in_the_kernel() -> None:
    x = numbers(2)
    bits = x.view(torch.int32)
    assert ops.write_then_read(x, bits).tolist() == [0x40A00000] * 2


def test_arguments_that_share_memory_grow_together() -> None:
    x = numbers(4)
    y = x[1:3]
    assert ops.grow_then_read(x, y, 1 << 16).tolist() == [5, 5]
    assert storage(x) == storage(y)
    assert y.tolist() == [5, 5]


def test_arguments_of_two_storages_share_none_in_the_kernel() -> None:
    assert not ops.shares_storage(numbers(4), numbers(4))


def test_returned_argument_is_the_argument() -> None:
    x = numbers(3)
    result = ops.add_one_(x)
    assert result is x


def test_returned_alias_shares_memory() -> None:
    x = numbers(3)
    assert storage(ops.same(x)) == storage(x)


def test_replaced_storage_is_carried_back() -> None:
    x = numbers(5)
    ops.replace_(x, 4.0)
    assert x.device.type == "dl"
    assert x.tolist() == [4, 4, 4]
    x.add_(1)
    assert (x + x).tolist() == [10, 10, 10]


def test_storage_of_another_argument_is_taken_over() -> None:
    x, y = numbers(5), numbers(2) + 1
    ops.adopt_(x, y)
    assert storage(x) == storage(y)
    x.zero_()
    assert y.tolist() == [0, 0]


def test_outputs_that_share_new_memory_share_it() -> None:
    first, second = ops.first_two(numbers(3))
    assert storage(first) == storage(second)
    assert (first.tolist(), second.tolist()) == ([0], [10, 20])
    first.fill_(3)
    assert second.tolist() == [10, 20]


def test_optional_tensors_may_be_missing() -> None:
    x = numbers(3)
    assert ops.sum_given([x, None, x]).tolist() == [0, 2, 4]


def test_new_output_outlives_its_arguments() -> None:
    x = numbers(3)
    result = ops.write_then_read(numbers(1), x)
    del x
    torch.dl.empty_cache()
    assert result.tolist() == [0, 1, 2]


def test_a_tensor_that_a_kernel_keeps_stays_what_it_was() -> None:
    kept.clear()
    tensors = [numbers(3), numbers(5) + 10, numbers(2) + 20]
    for tensor in tensors:
        ops.keep(tensor)
        ops.same(tensor)
    assert [tensor.tolist() for tensor in kept] == [tensor.tolist() for tensor in tensors]
    kept.clear()


def test_a_result_that_a_kernel_keeps_stays_on_the_cpu() -> None:
    kept.clear()
    result = ops.make_and_keep(numbers(3))
    assert result.device.type == "dl" and result.tolist() == [1, 2, 3]
    assert kept[0].device.type == "cpu" and "CPU" in str(torch._C._dispatch_keys(kept[0]))
    kept.clear()


@pytest.mark.parametrize("inference", [False, True])
def test_results_of_the_fallback_are_tensors_like_others(inference: bool) -> None:
    x = numbers(4).view(2, 2)
    torch.dl.reset_fallback_stats()
    with torch.inference_mode(inference):
        native, fallen = x.clone(), lacking(x)
    assert OVERLOAD in torch.dl.fallback_stats()
    assert torch._C._dispatch_keys(fallen) == torch._C._dispatch_keys(native)
    assert fallen.untyped_storage().device == fallen.device == x.device
    assert fallen.is_inference() == inference


def test_conjugation_that_a_kernel_sets_is_carried_back() -> None:
    x = torch.tensor([1 + 2j, 3j]).to("dl")
    ops.set_conjugate_(x)
    assert x.tolist() == [1 - 2j, -3j]


def test_gradient_flows_through_a_view_of_the_fallback() -> None:
    """op_db has no view operator that uses the fallback; autograd has to treat the result as a
    view."""
    x = numbers(4).requires_grad_()
    y = (x * 2)[1:]
    torch.ops.dl_alias_test.add_one_(y.detach())
    assert y.tolist() == [3, 5, 7]
    y.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [0, 2, 2, 2]
