"""CPU functions on device memory: nothing is copied, and memory is shared as expected."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch

from dl_core import _C

Function = Callable[[list[Any]], list[Any]]


def call(
    function: Function,
    arguments: list[Any],
    *,
    written: tuple[int, ...] = (),
    on_device: tuple[bool, ...] = (True,),
    kept: tuple[torch.Tensor, ...] = (),
) -> list[Any]:
    places = [place in written for place in range(len(arguments))]
    results = _C.HostCall(0, function, places, on_device, kept).run(arguments)
    assert results is not None
    return results


def test_arguments_and_results_stay_where_they_are() -> None:
    whole = torch.arange(24.0).to("dl").view(4, 6)
    x, y = whole[1:, ::2], whole.t()
    seen: list[torch.Tensor] = []

    def function(given: list[Any]) -> list[Any]:
        a, b, number = given
        assert a.device == b.device == torch.device("cpu") and number == 3
        assert (a.data_ptr(), b.data_ptr()) == (x.data_ptr(), y.data_ptr())
        assert (a.stride(), a.storage_offset()) == (x.stride(), x.storage_offset())
        assert a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
        seen.append(a * number)
        return [seen[0], a.sum().item()]

    made, total = call(function, [x, y, 3], on_device=(True, False))
    assert made.device == x.device and made.data_ptr() == seen[0].data_ptr()
    assert torch.equal(made.cpu(), x.cpu() * 3) and total == x.cpu().sum()


def test_the_memory_of_results_is_the_devices_and_freed_with_them() -> None:
    before = torch.dl.memory_allocated()
    (made,) = call(lambda given: [given[0] + 1], [torch.zeros(1000, device="dl")])
    assert torch.dl.memory_allocated() - before >= made.nbytes
    made.resize_(2000)
    del made
    assert torch.dl.memory_allocated() == before


def test_what_is_written_is_the_argument() -> None:
    x = torch.zeros(4, device="dl")
    (same, part) = call(
        lambda given: [given[0].add_(1), given[0][1:3]], [x], written=(0,), on_device=(True, True)
    )
    assert same is x and torch.equal(x.cpu(), torch.ones(4))
    part.zero_()
    assert x.tolist() == [1, 0, 0, 1]


def test_arguments_that_share_memory_are_not_written_to() -> None:
    whole = torch.zeros(8, device="dl")
    parts = [whole[:4], whole[3:], whole[4:]]

    def function(given: list[Any]) -> list[Any]:
        return [given[0].add_(1)]

    both = [
        _C.HostCall(0, function, [True, False], [True]),
        _C.HostCall(0, function, [False] * 2, [True]),
    ]
    assert both[0].run([parts[0], parts[1]]) is None and not whole.any()
    assert both[0].run([parts[0], parts[2]]) is not None
    assert both[1].run([parts[0], parts[1]]) is not None
    assert whole.tolist() == [2] * 4 + [0] * 4


def test_results_that_share_memory_do_so_on_the_device() -> None:
    def function(given: list[Any]) -> list[Any]:
        made = given[0] * 2
        return [made, made[1:], made]

    whole, part, again = call(function, [torch.ones(4, device="dl")], on_device=(True,) * 3)
    part.zero_()
    assert whole.tolist() == again.tolist() == [2, 0, 0, 0]


def test_results_of_the_cpu_share_nothing_with_the_device() -> None:
    x, y = torch.ones(4, device="dl"), torch.ones(4)

    def function(given: list[Any]) -> list[Any]:
        made = given[0] * 2
        return [given[0], made, made, given[1], given[1]]

    results = call(function, [x, y], on_device=(False, True, False, False, True))
    assert [each.device.type for each in results] == ["cpu", "dl", "cpu", "cpu", "dl"]
    assert results[3] is y
    for each in results[:3]:
        each.zero_()
    assert x.tolist() == results[4].tolist() == [1, 1, 1, 1]
    results[4].zero_()
    assert y.tolist() == [1, 1, 1, 1]


def test_what_a_function_keeps_is_copied() -> None:
    constant = torch.ones(4)
    for on_device in (True, False):
        (made,) = call(lambda _: [constant], [], on_device=(on_device,), kept=(constant,))
        made.zero_()
        assert constant.tolist() == [1, 1, 1, 1]


def test_lazy_conjugates_are_resolved() -> None:
    x = torch.tensor([1 + 2j, 3 - 1j]).to("dl")

    def function(given: list[Any]) -> list[Any]:
        assert not given[0].is_conj()
        return [torch.view_as_real(given[0])[:, 1].clone()]

    assert call(function, [x.conj()])[0].tolist() == [-2, 1]


def test_an_error_passes_and_leaves_nothing_behind() -> None:
    x = torch.ones(4, device="dl")

    def function(given: list[Any]) -> list[Any]:
        raise LookupError(given[0].shape)

    with pytest.raises(LookupError):
        call(function, [x])
    storage = weakref.ref(x.untyped_storage())
    del x
    gc.collect()
    assert storage() is None


def test_what_a_function_has_kept_of_an_argument_is_empty() -> None:
    kept: list[torch.Tensor] = []

    def function(given: list[Any]) -> list[Any]:
        kept.append(given[0])
        return [given[0] + 1]

    run = _C.HostCall(0, function, [False], [True]).run
    for number in range(3):
        assert run([torch.full((4,), float(number), device="dl")])[0].tolist() == [number + 1] * 4
    assert [each.numel() for each in kept] == [0, 0, 0]


@pytest.mark.parametrize("mode", [torch.inference_mode, torch.no_grad, torch.enable_grad])
def test_modes_take_turns(mode: Callable[[], Any]) -> None:
    run = _C.HostCall(0, lambda given: [given[0].add_(1), given[0] * 2], [True], [True] * 2).run
    for each in (torch.no_grad, mode, torch.no_grad):
        with each():
            x = torch.zeros(3, device="dl")
            same, twice = run([x])
            assert same is x and x.tolist() == [1] * 3 and twice.tolist() == [2] * 3


def test_wrong_numbers_of_things_are_refused() -> None:
    x = torch.ones(4, device="dl")
    with pytest.raises(ValueError, match="wrong number of arguments"):
        _C.HostCall(0, lambda given: given, [False], [True]).run([x, x])
    with pytest.raises(ValueError, match="wrong number of results"):
        call(lambda given: [*given, *given], [x])
