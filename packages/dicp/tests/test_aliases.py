"""Results and arguments that share memory: writes and layout changes behave as in eager mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import dropout

from dl_dicp import statistics

CHANGES: dict[str, Callable[[Tensor], Any]] = {
    "resize_": lambda a: a.resize_(1, 2),
    "set_": lambda a: a.set_(torch.zeros(5, device=a.device)),
    "t_": lambda a: a.t_(),
    "squeeze_": lambda a: a.squeeze_(),
    "unsqueeze_": lambda a: a.unsqueeze_(0),
    "transpose_": lambda a: a.transpose_(0, 1),
    "as_strided_": lambda a: a.as_strided_((2,), (1,), 1),
    "data": lambda a: setattr(a, "data", torch.zeros(5, device=a.device)),
}

SAME: dict[str, Callable[[Tensor], Tensor]] = {
    "view": lambda x: x.view(1, -1),
    "detach": lambda x: x.detach(),
    "dropout": lambda x: dropout(x, 0.5, False),
}


def outcome(call: Callable[[Tensor], Any]) -> list[Any]:
    """Return values and layouts of the results and of the argument afterwards."""
    x = torch.arange(4.0).reshape(1, 4).to("dl")
    with torch.no_grad():
        tensors = [*call(x), x]
    return [(t.tolist(), t.shape, t.stride(), t.storage_offset()) for t in tensors]


def compiled(function: Callable[[Tensor], Any]) -> Callable[[Tensor], Any]:
    return torch.compile(function, backend="dl")  # type: ignore[no-any-return]


@pytest.mark.parametrize("same", SAME)
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_layout_is_that_of_one_tensor(change: str, same: str) -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        base = x + 1
        alias = SAME[same](base)
        CHANGES[change](alias)
        return base + 1, alias

    wanted, run = outcome(function), compiled(function)
    assert [outcome(run) for _ in range(3)] == [wanted] * 3


def test_results_that_look_alike_are_as_many_tensors_as_in_eager_mode() -> None:
    def function(x: Tensor) -> tuple[Tensor, ...]:
        made = x + 1
        return made, made.view(1, 4), made.detach(), made

    run = compiled(function)
    x = torch.ones(1, 4).to("dl")
    for call in (function, run, run, run):
        one, two, three, four = call(x)
        assert one is four and len({id(each) for each in (one, two, three)}) == 3
        assert one.data_ptr() == two.data_ptr() == three.data_ptr()
        two.add_(1)
        assert one.tolist() == three.tolist() == [[3.0] * 4]


IDLE: dict[str, Callable[[Tensor], Tensor]] = {
    "function": lambda x: dropout(x, 0.5, False),
    "by name": lambda x: dropout(input=x, training=False),
    "nothing to drop": lambda x: dropout(x, 0.0, True),
    "torch.dropout": lambda x: torch.dropout(x, 0.5, False),
    "module": torch.nn.Dropout(0.3).eval(),
    "identity": torch.nn.Identity(),
    "contiguous": lambda x: x.contiguous(),
}


@pytest.mark.parametrize("idle", IDLE)
def test_a_write_to_the_argument_that_was_returned_is_seen(idle: str) -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        made = x * 1
        for each in (x, made):
            IDLE[idle](each).add_(1)
        return x * 2, made

    wanted, run = outcome(function), compiled(function)
    assert [outcome(run) for _ in range(3)] == [wanted] * 3
    assert statistics.graphs == 2


def test_dropout_that_drops_still_does() -> None:
    run = compiled(lambda x: dropout(x, 0.5, True))
    x = torch.ones(1000, device="dl")
    for _ in range(3):
        assert 300 < int((run(x) == 0).sum()) < 700
    with pytest.raises(Exception, match="probability has to be between 0 and 1"):
        compiled(lambda x: dropout(x, 1.5, False))(x)


def write_first(x: Tensor, y: Tensor) -> Tensor:
    x.mul_(2)
    return x + y


def write_second(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    y.add_(x.sum())
    return x * 3, y.reshape(-1)[1:]


PARTS: dict[str, Callable[[Tensor], tuple[Tensor, Tensor]]] = {
    "separate": lambda base: (base[:4].clone(), base[4:].clone()),
    "apart": lambda base: (base[:4], base[4:]),
    "overlapping": lambda base: (base[:4], base[2:6]),
    "in reverse": lambda base: (base[3:7], base[:4]),
    "interleaved": lambda base: (base[::2], base[1::2]),
    "transposed": lambda base: (base[:4].view(2, 2), base[:4].view(2, 2).t()),
}


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("first", PARTS)
@pytest.mark.parametrize("function", [write_first, write_second])
def test_writes_to_arguments_that_overlap_in_one_call_only(
    function: Callable[..., Any], first: str, grad: bool
) -> None:
    run = compiled(function)
    with torch.set_grad_enabled(grad):
        for name in (first, *PARTS, first):
            outcomes = []
            for call in (function, run):
                base = torch.arange(8.0).to("dl")
                results = call(*PARTS[name](base))
                made = results if isinstance(results, tuple) else (results,)
                outcomes.append([each.tolist() for each in (*made, base)])
            assert outcomes[0] == outcomes[1], name


def test_separate_parts_of_one_storage_run_compiled() -> None:
    run = compiled(write_first)
    for _ in range(3):
        run(*PARTS["apart"](torch.arange(8.0).to("dl")))
    assert statistics.graphs == 2
    assert not statistics.eager
