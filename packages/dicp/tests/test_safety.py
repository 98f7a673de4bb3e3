"""Results are never wrong: operators that cannot be in a graph run eagerly and are reported."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch

from agreement import assert_agree
from dicp_models import on_dl
from dl_core import _C
from dl_dicp import compiled, statistics
from dl_dicp.recording import calls


def compile_(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return torch.compile(function, backend="dl", options=options)  # type: ignore[no-any-return]


def vector(*shape: int) -> torch.Tensor:
    return torch.randn(*shape or (8,)).to("dl")


def programs() -> list[Any]:
    return [v.program for g in compiled.all_graphs for v in g.variants if v.program is not None]


def chain(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return ((x * y).exp() - y).tanh()


def drop_a_call(made: list[calls.Call]) -> list[calls.Call]:
    return made[:-1] if made and made[0].operator == "diopiExp" else made


def swap_operands(made: list[calls.Call]) -> list[calls.Call]:
    for call in made:
        if call.operator == "diopiSub":
            given = call.arguments
            given["input"], given["other"] = given["other"], given["input"]
    return made


def change_a_number(made: list[calls.Call]) -> list[calls.Call]:
    for call in made:
        if call.operator == "diopiSub":
            call.arguments["alpha"] = {"dtype": "int64", "value": 2}
    return made


def use_a_wrong_operator(made: list[calls.Call]) -> list[calls.Call]:
    return [calls.Call("diopiSin", c.arguments) if c.operator == "diopiTanh" else c for c in made]


@pytest.mark.parametrize(
    "fault", [drop_a_call, swap_operands, change_a_number, use_a_wrong_operator]
)
def test_a_wrong_lowering_is_caught(
    fault: Callable[[list[calls.Call]], list[calls.Call]], monkeypatch: pytest.MonkeyPatch
) -> None:
    import dl_dicp.recording.recorder

    seen: list[str] = []

    def faulty(events: Any, addresses: Any) -> list[calls.Call]:
        made = calls.lower(events, addresses)
        seen.extend(call.operator for call in made)
        return fault(made)

    monkeypatch.setattr(dl_dicp.recording.recorder, "lower", faulty)
    x, y = vector(), vector()
    run = compile_(chain)
    for _ in range(2):
        assert torch.equal(run(x, y).cpu(), chain(x, y).cpu())
    assert {"diopiExp", "diopiSub", "diopiTanh"} <= set(seen)
    assert not programs()
    assert len(statistics.eager) == 1


def test_the_same_without_a_fault_compiles() -> None:
    x, y = vector(), vector()
    run = compile_(chain)
    for _ in range(2):
        assert torch.equal(run(x, y).cpu(), chain(x, y).cpu())
    assert len(programs()) == 1
    assert statistics.calls == 4


def test_an_operator_without_lowering_is_a_host_call() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.exp().sin().cos()

    x = vector(4, 4)
    with torch.dl.force_fallback("sin"):
        run = compile_(function)
        for _ in range(3):
            assert torch.equal(run(x).cpu(), function(x).cpu())
    assert statistics.host_calls == {"sin": 2}
    assert statistics.graphs == 4
    (program,) = programs()
    assert [host.reason for host in program.hosts] == ["it ran on the CPU"]


def test_a_result_that_shares_memory_with_an_argument() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x, x.view(2, 4), x.t() if x.dim() == 2 else x[2:5], x + 1

    run = compile_(function)
    x = vector()
    for _ in range(2):
        for one, other in zip(run(x), function(x), strict=True):
            assert one.data_ptr() == other.data_ptr() or one.data_ptr() != x.data_ptr()
            assert one.stride() == other.stride()
            assert torch.equal(one.cpu(), other.cpu())
        run(x)[2].zero_()
        assert not x[2:5].any()


def test_results_of_two_runs_are_apart() -> None:
    run = compile_(lambda x: (x * 2, (x * 2).view(2, 4)[0]))
    run(vector())
    first = run(torch.ones(8, device="dl"))
    second = run(torch.zeros(8, device="dl"))
    assert first[0].sum() == 16
    assert first[1].sum() == 8
    assert second[0].sum() == 0


def test_arguments_that_share_memory() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x * 2 + y

    run = compile_(function)
    whole = vector(12)
    for x, y in ((whole[:8], whole[4:]), (vector(), vector()), (whole[4:], whole[:8])):
        assert torch.equal(run(x, y).cpu(), function(x, y).cpu())
    assert not statistics.host_calls


def test_an_argument_that_is_written_to() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.mul_(2)
        y[1:3] = x[:2]
        return x + y

    run = compile_(function)
    for _ in range(3):
        x, y = vector(), vector()
        a, b = x.clone(), y.clone()
        before = x._version
        assert torch.equal(run(x, y).cpu(), function(a, b).cpu())
        assert torch.equal(x.cpu(), a.cpu())
        assert torch.equal(y.cpu(), b.cpu())
        assert x._version > before
    assert statistics.graphs == 2


def test_a_write_goes_to_the_argument_if_the_old_value_is_not_read() -> None:
    def ignore_old(x: torch.Tensor, y: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        x.index_copy_(0, rows, y)
        return x * 2

    def read_old(x: torch.Tensor, y: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        old = x.view(-1).clone() * 0 + x.view(-1)
        part = x[1:]
        new = x.index_copy(0, rows, y)
        result = new.sum() + part.sum() + old.sum()
        x.copy_(new)
        return result

    for function, least, most in ((ignore_old, 1, 1), (read_old, 3, 9)):
        torch._dynamo.reset()
        compiled.all_graphs.clear()
        run = compile_(function)
        for _ in range(3):
            x, y, rows = vector(4, 3), vector(2, 3), torch.tensor([2, 0], device="dl")
            other = x.clone()
            assert torch.equal(run(x, y, rows).cpu(), function(other, y, rows).cpu())
            assert torch.equal(x.cpu(), other.cpu())
        (program,) = programs()
        made = [call.operator for region in program.regions for call in region.calls]
        copies = sum(name in ("diopiCopyInp", "diopiScatterInp") for name in made)
        assert least <= copies <= most, made


def test_written_arguments_that_share_memory() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return y * 2

    run = compile_(function)
    for _ in range(3):
        whole = vector(12)
        other = whole.clone()
        result = run(whole[:8], whole[4:])
        assert torch.equal(result.cpu(), function(other[:8], other[4:]).cpu())
        assert torch.equal(whole.cpu(), other.cpu())


def test_lengths_that_vary() -> None:
    run = compile_(chain)
    for length in (4, 7, 9, 4, 16, 7):
        x, y = vector(length), vector(length)
        assert torch.equal(run(x, y).cpu(), chain(x, y).cpu())
    # Dynamo's first graph serves one length, the second one all others. Each is recorded first, and
    # the second is compared with eager mode at another length.
    assert statistics.compiled == 2
    assert statistics.recorded == 3
    assert statistics.graphs == 3


def test_more_layouts_than_the_limit_run_eagerly(monkeypatch: pytest.MonkeyPatch) -> None:
    run = torch.compile(chain, backend="dl", dynamic=True, options={"limit": 2})
    monkeypatch.setattr(compiled, "shapes_of", lambda module, passed=None: None)
    for length in (4, 7, 9, 11, 4):
        x, y = vector(length), vector(length)
        assert torch.equal(run(x, y).cpu(), chain(x, y).cpu())
    assert statistics.eager == {"more than 2 layouts of arguments": 2}
    assert statistics.graphs == 1


def test_what_depends_on_data_is_never_baked_in() -> None:
    def function(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return x * scale

    run = compile_(function)
    for number in (2.0, 3.0, 4.0):
        x, scale = vector(), torch.tensor(number)
        assert torch.equal(run(x, scale).cpu(), function(x, scale).cpu())
    assert statistics.host_calls == {"mul.Tensor": 1}


NUMBERS = {
    torch.float64: (0.1, 0.3),
    torch.float32: (0.1, 0.3),
    torch.float16: (0.1, 0.3),
    torch.bfloat16: (0.1, 0.3),
    torch.int64: (3, 4),
    torch.uint8: (3, 4),
    torch.bool: (True, False),
}


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_a_number_that_stays_is_part_of_the_program(dtype: torch.dtype) -> None:
    """A scalar of any dtype is rounded to this dtype and promotes as in eager mode."""

    def function(
        x: torch.Tensor, y: torch.Tensor, scale: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return x * scale, y * scale

    run = compile_(function)
    one, two = NUMBERS[dtype]
    for number in (one, one, one, two, two, one):
        x, y, scale = vector(), torch.arange(8).to("dl"), torch.tensor(number, dtype=dtype)
        for given, wanted in zip(run(x, y, scale), function(x, y, scale), strict=True):
            assert given.dtype == wanted.dtype
            assert torch.equal(given.cpu(), wanted.cpu())
    # A second value makes the graph record again; then a host call reads the scalar.
    assert statistics.host_calls == {"mul.Tensor": 4}
    assert statistics.graphs == 2


@pytest.mark.parametrize("number", [float("nan"), 2.0])
def test_what_is_computed_of_a_number_is_new_each_time(number: float) -> None:
    run = torch.compile(lambda x, s: (x * s, s + 1), backend="dl", dynamic=True)
    for rows in (4, 6, 7, 4):
        x = vector(rows)
        given, more = run(x, torch.tensor(number))
        assert torch.allclose(given.cpu(), x.cpu() * number, equal_nan=True)
        assert torch.allclose(more, torch.tensor(number + 1), equal_nan=True)
        more.zero_()
    assert statistics.compiled == 1
    assert not statistics.host_calls


def test_a_scale_that_is_saved_for_the_backward_graph_is_part_of_it() -> None:
    def loss(x: torch.Tensor, scale: float) -> torch.Tensor:
        return (torch.nn.functional.gelu(x, approximate="tanh") * scale).sum()

    run = torch.compile(loss, backend="dl", dynamic=True)
    for rows, scale in ((4, 0.1), (6, 0.1), (9, 0.1), (9, 0.7)):
        x = vector(rows, 3).requires_grad_()
        y = x.detach().clone().requires_grad_()
        run(x, scale).backward()
        loss(y, scale).backward()
        assert_agree(x.grad, y.grad)
        if scale == 0.1:
            assert not statistics.host_calls


def test_sizes_that_depend_on_data_run_eagerly() -> None:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    found = graph.call_function(torch.ops.aten.nonzero.default, (x,))
    graph.output([found])
    run = compiled.CompiledGraph(torch.fx.GraphModule({}, graph), "inference")
    for numbers in ([1, 0, 2], [0, 0, 3], [4, 5, 6]):
        (found,) = run([torch.tensor(numbers, device="dl")])
        assert torch.equal(found.cpu(), torch.tensor(numbers).nonzero())
    assert statistics.eager == {"nonzero: the sizes or scalars of its results depend on data": 2}


def test_positions_that_are_made_each_time_are_constants() -> None:
    run = compile_(lambda x: x + torch.arange(8, device=x.device))
    for _ in range(2):
        x = vector()
        assert torch.equal(run(x).cpu(), x.cpu() + torch.arange(8))
    assert not statistics.host_calls


def test_a_constant_that_is_returned_is_new_each_time() -> None:
    run = compile_(lambda x: (x + 1, torch.arange(8, device=x.device)))
    x = vector()
    for _ in range(3):
        _, numbers = run(x)
        assert torch.equal(numbers.cpu(), torch.arange(8))
        numbers.zero_()


def test_threads_share_a_program() -> None:
    model, inputs = on_dl("encoder")
    run = torch.compile(model.eval(), backend="dl")
    with torch.no_grad():
        wanted = [model(torch.roll(inputs[0], i, 1)).cpu() for i in range(4)]
        run(inputs[0])
    wrong: list[str] = []

    def work(number: int) -> None:
        words = torch.roll(inputs[0], number, 1)
        with torch.no_grad():
            for _ in range(20):
                if not torch.equal(run(words).cpu(), wanted[number]):
                    wrong.append(f"thread {number}")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert statistics.graphs >= 80


def test_an_error_names_the_operator() -> None:
    run = compile_(lambda table, rows: torch.nn.functional.embedding(rows, table) * 2)
    table = vector(5, 3)
    run(table, torch.tensor([1, 4], device="dl"))
    with pytest.raises((RuntimeError, IndexError), match="diopiEmbedding"):
        run(table, torch.tensor([1, 9], device="dl"))
    again = run(table, torch.tensor([0, 2], device="dl"))
    assert torch.equal(again.cpu(), table.cpu()[[0, 2]] * 2)


def test_options_that_are_none_are_refused() -> None:
    with pytest.raises(
        Exception, match="unknown options speed; expected check, engine, frozen, limit"
    ):
        compile_(chain, speed=3)(vector(), vector())
    with pytest.raises(Exception, match="the option limit must be an integer >= 0, not -1"):
        compile_(chain, limit=-1)(vector(), vector())


def test_a_graph_of_the_cpu_runs_eagerly() -> None:
    run = compile_(chain)
    x, y = torch.ones(3), torch.full((3,), 2.0)
    assert torch.equal(run(x, y), chain(x, y))
    assert statistics.eager == {"no argument is a dl tensor": 1}


def test_recording_belongs_to_its_thread() -> None:
    _C.start_recording([])
    try:
        other = threading.Thread(target=lambda: vector() + 1)
        other.start()
        other.join()
        assert _C.take_recorded() == []
        vector().exp()
        assert "diopiExp" in [name for name, _, _ in _C.take_recorded()]
        with pytest.raises(RuntimeError, match="already recording"):
            _C.start_recording([])
    finally:
        _C.stop_recording()
    with pytest.raises(RuntimeError, match="is not recording"):
        _C.take_recorded()


def test_equal_graphs_are_verified_once() -> None:
    for _ in range(2):
        torch._dynamo.reset()
        run = compile_(chain)
        run(vector(), vector())
    assert statistics.compiled == 2
    assert statistics.cache_hits == 2


def test_half_precision() -> None:
    model, inputs = on_dl("encoder")
    model.eval()
    run = torch.compile(model, backend="dl")
    with torch.no_grad(), torch.autocast("dl", torch.bfloat16):
        for _ in range(2):
            assert_agree(run(*inputs), model(*inputs))
    assert not statistics.eager
