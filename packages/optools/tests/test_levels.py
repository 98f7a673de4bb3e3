from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from dl_optools import levels
from dl_optools.call import THREAD, OpCall, own_work
from dl_optools.names import Level, api_name
from watching import Seen, leaf


class UserFunctions(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(api_name(func))
        return func(*args, **(kwargs or {}))


class UserOperators(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


USER: dict[Level, type[UserFunctions] | type[UserOperators]] = {
    Level.API: UserFunctions,
    Level.DISPATCH: UserOperators,
}
ADD = {Level.API: "torch.add", Level.DISPATCH: "aten.add.Tensor"}
BOTH = pytest.mark.parametrize("level", list(Level))


def add() -> torch.Tensor:
    return torch.add(torch.ones(2), torch.ones(2))


class Computing(Seen):
    """Computes around the call, as a comparing tool does."""

    def handle(self, call: OpCall) -> Any:
        torch.ones(3).cumsum(0)
        result = super().handle(call)
        torch.ones(3).cumprod(0)
        return result


# Observed calls


def test_each_level_sees_its_own_operators() -> None:
    x = leaf(3, 4)
    with Seen() as functions, Seen(level="dispatch") as overloads:
        torch.nn.functional.linear(x, leaf(5, 4), leaf(5)).sum().backward()
    assert functions.names[-2:] == ["torch.nn.functional.linear", "torch.Tensor.sum"]
    assert "aten.addmm.default" in overloads.names
    # Backward's own operators, too.
    backward = [name for name, _, in_backward, _ in overloads.calls if in_backward]
    assert backward.count("aten.mm.default") == 2


def test_overloads_are_functions_only_if_the_program_calls_them() -> None:
    x = leaf(3)
    with Seen() as functions, Seen(level="dispatch", ops="aten.mul.Tensor"):
        torch.mul(torch.exp(x), 2).sum().backward()
        torch.ops.aten.mul.Tensor(x, x)
    names = ["torch.exp", "torch.mul", "torch.Tensor.sum", "aten.mul.Tensor"]
    assert functions.names == names


def test_functions_that_functions_call_are_not_seen_twice() -> None:
    with Seen() as tool:
        torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]))
    assert tool.names[-1:] == ["torch.nn.functional.cross_entropy"]


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.shape,
        lambda x: x.size(),
        lambda x: x.dim(),
        lambda x: x.device,
        lambda x: x.data_ptr(),
        repr,
        lambda x: x.requires_grad_(),
        lambda x: x.grad,
        len,
    ],
)
def test_reading_metadata_is_not_an_operator(read: Any) -> None:
    x = torch.ones(2)
    with Seen() as tool:
        read(x)
    assert tool.names == []


def test_tensors_in_keywords_and_devices_are_seen() -> None:
    x = torch.ones(2, 2)
    with Seen() as tool:
        torch.matmul(input=x, other=x)
        torch.ones(2, device=torch.device("cpu"))
        torch.ones(2, device="cpu:0")
        torch.cat(tensors=[x, x])
        torch.ones(2, device="meta")
    assert tool.names == ["torch.matmul", "torch.ones", "torch.ones", "torch.cat"]


def test_calls_on_other_devices_are_not_seen() -> None:
    with Seen(device="meta") as tool:
        torch.ones(2).add(1)
        x = torch.ones(2, device="meta")
        torch.add(x, 1)
        torch.add(torch.ones(()), other=x)
    assert tool.names == ["torch.ones", "torch.add", "torch.add"]


@BOTH
def test_a_tool_does_not_see_tools_at_work(level: Level) -> None:
    with Seen(level=level) as outer, Computing(level=level), Seen(level=level) as inner:
        add()
    assert outer.names == inner.names
    assert not any("cumsum" in name or "cumprod" in name for name in outer.names)


@BOTH
def test_modes_of_the_program_do_not_see_tools_at_work(level: Level) -> None:
    with UserFunctions() as functions, UserOperators() as overloads:
        add()
    expected = functions.names, overloads.names
    below, above = [(UserFunctions(), UserOperators()) for _ in range(2)]
    with below[0], below[1], Computing(level=level), above[0], above[1]:
        add()
    for functions, overloads in (below, above):
        assert (functions.names, overloads.names) == expected


def test_default_devices_do_not_reach_into_a_tools_work() -> None:
    places: list[torch.device] = []

    class Making(Seen):
        def handle(self, call: OpCall) -> Any:
            places.append(torch.ones(1).device)
            result = call.proceed()
            places.append(torch.ones(1).device)
            return result

    x = torch.ones(2)
    with torch.device("meta"), Making():
        assert torch.add(x, x).device.type == "cpu"
        assert torch.zeros(1).device.type == "meta"
    assert {place.type for place in places} == {"cpu"}


def test_own_work_is_hidden_and_ends() -> None:
    with UserFunctions() as user, Seen() as tool:
        with own_work():
            torch.add(torch.ones(1), 1)
            with own_work():
                torch.add(torch.ones(1), 1)
            assert THREAD.inside
        assert not THREAD.inside
        torch.mul(torch.ones(1), 1)
    assert tool.names[-1] == "torch.mul" and "torch.add" not in tool.names + user.names


def test_backward_recomputes_under_the_tool() -> None:
    layer = torch.nn.Linear(3, 3)
    with Seen() as tool:
        loss = checkpoint(layer, torch.ones(2, 3), use_reentrant=False).sum()
        before = tool.names.count("torch.nn.functional.linear")
        loss.backward()
    assert (before, tool.names.count("torch.nn.functional.linear")) == (1, 2)


@pytest.mark.parametrize(
    "run",
    [
        lambda y: y.backward(torch.full((3,), 2.0)),
        lambda y: y.backward(gradient=torch.full((3,), 2.0), retain_graph=True),
        lambda y: torch.autograd.backward([y], [torch.full((3,), 2.0)]),
        lambda y: torch.autograd.backward(y, grad_tensors=torch.full((3,), 2.0), inputs=[y]),
        lambda y: torch.autograd.grad(y, y, torch.full((3,), 2.0), create_graph=True),
    ],
)
def test_every_way_to_start_backward_works_under_a_tool(run: Any) -> None:
    def gradient() -> tuple[Any, Any]:
        x = leaf(3)
        y = x * 3
        y.retain_grad()
        result = run(y)
        return x.grad, y.grad if result is None else result[0]

    expected = gradient()
    with Seen():
        found = gradient()
    for one, other in zip(found, expected, strict=True):
        assert one is other is None or torch.equal(one, other)


# Starting and stopping


@BOTH
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_tools_stop_in_any_order(level: Level, order: tuple[int, ...]) -> None:
    tools = [Seen(level=level).start() for _ in range(3)]
    for count, at in enumerate(order):
        add()
        tools[at].stop()
        assert tools[at].names.count(ADD[level]) == count + 1
    add()
    assert [tool.names.count(ADD[level]) for tool in tools] == [
        order.index(at) + 1 for at in (0, 1, 2)
    ]


@BOTH
def test_the_tool_that_starts_last_meets_calls_first(level: Level) -> None:
    order: list[str] = []

    class Ordered(Seen):
        def __init__(self, name: str) -> None:
            super().__init__(level=level, ops=ADD[level].replace(".", r"\."))
            self.name = name

        def handle(self, call: OpCall) -> Any:
            order.append(self.name)
            return call.proceed()

    with Ordered("first"), Ordered("second"):
        add()
    assert order == ["second", "first"]


@BOTH
@pytest.mark.parametrize("first_out", ["tool", "user"])
def test_tools_and_modes_of_the_program_leave_in_any_order(level: Level, first_out: str) -> None:
    tool = Seen(level=level)
    below, above, top = USER[level](), USER[level](), USER[level]()
    with below:
        tool.start()
        above.__enter__()
        if first_out == "tool":
            top.__enter__()
            tool.stop()
            top.__exit__(None, None, None)
        add()
        above.__exit__(None, None, None)
        if first_out == "user":
            tool.stop()
        add()
    assert above.names.count(ADD[level]) == 1 and below.names.count(ADD[level]) == 2
    assert tool.names.count(ADD[level]) == (first_out == "user")


def test_a_tool_starts_and_stops_within_its_own_call_and_within_backward() -> None:
    tool = Seen()

    class Ending(Seen):
        def handle(self, call: OpCall) -> Any:
            if tool.running:
                tool.stop()
            return call.proceed()

    with Ending():
        tool.start()
        add()
        add()
    assert tool.names.count("torch.add") <= 1
    x = leaf(3)
    y = x * 1
    y.register_hook(lambda _: tool.stop())
    tool.names.clear()
    tool.start()
    y.sum().backward()
    add()
    assert "torch.add" not in tool.names
    # The next tool removes the idle mode, too.
    with Seen() as other:
        add()
    assert other.names.count("torch.add") == 1


def test_a_running_tool_does_not_start_again_and_a_stopped_one_does() -> None:
    with Seen() as tool:
        with pytest.raises(RuntimeError, match=r"\[Seen\] it is already running"):
            tool.start()
        add()
    tool.end()
    with tool:
        add()
    assert tool.names.count("torch.add") == 2


def test_exceptions_of_operators_pass_and_leave_the_tools_at_work() -> None:
    x = torch.ones(2)
    with Seen() as outer, Seen() as inner, Seen(level="dispatch") as overloads:
        with pytest.raises(RuntimeError, match="size of tensor"):
            torch.add(x, torch.ones(3))
        assert not THREAD.inside and THREAD.api_call is None
        torch.mul(x, x)
    assert outer.names == inner.names and outer.names[-2:] == ["torch.add", "torch.mul"]
    assert overloads.names[-1] == "aten.mul.Tensor"


def test_exceptions_of_tools_pass() -> None:
    class Failing(Seen):
        def handle(self, call: OpCall) -> Any:
            raise ArithmeticError("tool")

    with Failing(ops="torch.add"):
        with pytest.raises(ArithmeticError, match="tool"):
            add()
        assert not THREAD.inside
        torch.mul(torch.ones(1), 1)
    assert add().sum() == 4


@BOTH
def test_a_thread_sees_its_own_calls_only(level: Level) -> None:
    tools = {name: Seen(level=level) for name in ("one", "two")}
    both = threading.Barrier(2)
    failures: list[BaseException] = []

    def run(name: str, count: int) -> None:
        try:
            with tools[name]:
                both.wait(20)
                for _ in range(count):
                    add()
                both.wait(20)
        except BaseException as failure:  # noqa: BLE001  (shown by the assertion below)
            failures.append(failure)

    threads = [threading.Thread(target=run, args=x) for x in (("one", 3), ("two", 5))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [tool.names.count(ADD[level]) for tool in tools.values()] == [3, 5]


def test_a_tool_of_another_thread_is_not_stopped_here() -> None:
    tool = Seen()
    started, finish = threading.Event(), threading.Event()

    def run() -> None:
        with tool:
            started.set()
            finish.wait(20)

    thread = threading.Thread(target=run)
    thread.start()
    started.wait(20)
    with pytest.raises(RuntimeError, match="started in another thread"):
        tool.stop()
    finish.set()
    thread.join()
    assert not tool.running


def test_tools_change_only_outside_of_calls() -> None:
    found: list[bool] = []

    class Asking(Seen):
        def handle(self, call: OpCall) -> Any:
            found.append(levels.can_change_modes())
            return call.proceed()

    x = leaf(3)
    with Asking(ops="torch.add"):
        found.append(levels.can_change_modes())
        y = torch.add(x, 1)
        y.register_hook(lambda _: found.append(levels.can_change_modes()))
        y.sum().backward()
    assert found == [True, False, False]


# Calls


def test_a_tool_may_send_a_call_twice_and_change_its_arguments() -> None:
    class Twice(Seen):
        def handle(self, call: OpCall) -> Any:
            first = call.proceed()
            call.args = (first, *call.args[1:])
            return call.proceed()

    with Seen(ops=r"torch\.add") as behind, Twice(ops=r"torch\.add"):
        assert add().tolist() == [3, 3]
    assert behind.names == ["torch.add", "torch.add"]


def test_a_call_without_its_arguments_keeps_its_name() -> None:
    found: list[OpCall] = []

    class Keeping(Seen):
        def handle(self, call: OpCall) -> Any:
            found.append(call.identity())
            return call.proceed()

    with Keeping(ops=r"torch\.add"):
        add()
    (call,) = found
    assert (call.name, call.level, call.args, dict(call.kwargs)) == ("torch.add", Level.API, (), {})
    assert call.number > 0 and call.parent is None


def test_higher_order_operators_pass_and_their_calls_are_observed() -> None:
    wrap: Any = pytest.importorskip("torch._higher_order_ops.wrap").wrap
    x = torch.ones(2)
    with Seen(level="dispatch") as tool:
        assert wrap(lambda y: torch.add(y, 1), x).tolist() == [2, 2]
    assert not any("wrap" in name for name in tool.names)
