"""OpTimeMeasure: which time is attributed to an operator."""

from __future__ import annotations

import csv
import gc
import io
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.overrides import _get_current_function_mode_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

import dl_optools
from dl_optools import OpTimeMeasure
from dl_optools.levels import through_tools
from dl_optools.names import Level
from dl_optools.timing import time_measure
from dl_optools.timing.clocks import HostStopwatch, stopwatch_for
from dl_optools.timing.spans import Row, TimedCall
from timing_doubles import Device, Nanoseconds, Work, working

LINEAR = "torch.nn.functional.linear"


@pytest.fixture
def options(tmp_path: Path) -> dict[str, Any]:
    return {
        "device": "cpu",
        "budget": "off",
        "roofline": False,
        "directory": tmp_path,
        "stream": io.StringIO(),
    }


@pytest.fixture
def clock() -> Nanoseconds:
    return Nanoseconds()


@pytest.fixture
def work(clock: Nanoseconds) -> Iterator[Work]:
    def pass_time(nanoseconds: int) -> None:
        clock.now += nanoseconds

    yield from working(pass_time)


def rows_of(tool: OpTimeMeasure, operator: str, backward: bool = False) -> list[Row]:
    return [x for x in tool.results.rows if (x.operator, x.backward) == (operator, backward)]


def work_rows(tool: OpTimeMeasure, backward: bool = False) -> list[Row]:
    """Return the rows of the test's own operator, under the dispatcher."""
    found = rows_of(tool, "dl_timing_test.work.default", backward)
    return [row for row in found if row.level == "overload"]


def a_model() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3),
        torch.nn.BatchNorm2d(4),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(144, 10),
    )


def train(steps: int, tool: OpTimeMeasure | None = None) -> list[torch.Tensor]:
    """Return the losses and the weights after some steps of training."""
    model = a_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    batch, labels = torch.randn(4, 1, 8, 8), torch.arange(4)
    results = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(batch), labels)
        loss.backward()
        optimizer.step()
        results.append(loss.detach())
    return [*results, *(x.detach() for x in model.parameters())]


# Times


def test_self_time_excludes_nested_calls(
    options: dict[str, Any], clock: Nanoseconds, work: Work
) -> None:
    def outer(x: torch.Tensor) -> torch.Tensor:
        clock.now += 500
        return torch.nn.functional.relu(work.overload(x, 3_000))

    tool = OpTimeMeasure(stopwatch=HostStopwatch(now=clock), **options)
    with tool:
        through_tools("outer", Level.API, outer, (torch.ones(2),), {}, (tool,))
    (row,) = rows_of(tool, "outer")
    (inner,) = work_rows(tool)
    assert row.seconds == pytest.approx(3.5e-6) and row.own == pytest.approx(0.5e-6)
    # An overload that is called by name is also a function, without time of its own.
    (named,) = (x for x in rows_of(tool, inner.operator) if x.level == "function")
    assert (inner.seconds, inner.own, inner.function) == (3e-6, 3e-6, inner.operator)
    assert (named.seconds, named.own) == (3e-6, 0.0)


def test_self_times_add_up_to_the_outermost_and_with_the_rest_to_the_step(
    options: dict[str, Any],
) -> None:
    with OpTimeMeasure(**options) as tool:
        train(3)
    results = tool.results
    own = sum(row.own for row in results.rows)
    outermost = sum(row.seconds for row in results.outermost())
    assert own == pytest.approx(outermost)
    assert own + results.elsewhere == pytest.approx(results.seconds)
    assert 0 < results.share(own) < 1
    assert results.steps == 2


def test_backward_of_linear_is_all_of_it_and_not_its_view(options: dict[str, Any]) -> None:
    weight = torch.randn(5, 4, requires_grad=True)
    bias = torch.randn(5, requires_grad=True)
    x = torch.randn(2, 3, 4, requires_grad=True)
    with OpTimeMeasure(**options) as tool:
        torch.nn.functional.linear(x, weight, bias).sum().backward()
    (linear,) = rows_of(tool, LINEAR, backward=True)
    assert linear.calls == 1
    inside = [x for x in tool.results.rows if x.backward and x.function == LINEAR]
    names = {row.operator for row in inside}
    # The times of the view, of both products and of the bias.
    assert "aten.mm.default" in names and "aten.sum.dim_IntList" in names
    assert sum(x.calls for x in inside if x.operator == "aten.mm.default") == 2
    assert linear.seconds - linear.own == pytest.approx(sum(x.seconds for x in inside))
    assert linear.seconds > sum(x.seconds for x in inside if x.operator == "aten.mm.default")


def test_backward_is_timed_by_the_clock(
    options: dict[str, Any], clock: Nanoseconds, work: Work
) -> None:
    x = torch.ones(2, requires_grad=True)
    tool = OpTimeMeasure(stopwatch=HostStopwatch(now=clock), **options)
    with tool:
        work.function(x.mul(2), 3_000).sum().backward()
    backward = work_rows(tool, backward=True)
    assert [(row.calls, row.seconds) for row in backward] == [(1, 7e-6)]
    forward = work_rows(tool)
    assert [(row.calls, row.seconds) for row in forward] == [(1, 3e-6)]


def test_each_backward_of_a_call_counts(options: dict[str, Any]) -> None:
    x = torch.ones(2, requires_grad=True)
    with OpTimeMeasure(**options) as tool:
        y = torch.exp(x).sum()
        y.backward(retain_graph=True)
        y.backward()
        torch.exp(x).detach()
    (forward,) = rows_of(tool, "torch.exp")
    (backward,) = rows_of(tool, "torch.exp", backward=True)
    assert (forward.calls, backward.calls) == (2, 2)


@pytest.mark.parametrize("function", ["split", "std_mean"])
def test_functions_with_several_results(function: str, options: dict[str, Any]) -> None:
    x = torch.randn(4, 3, requires_grad=True)
    call = (lambda: x.split(2)) if function == "split" else (lambda: torch.std_mean(x))
    with OpTimeMeasure(**options) as tool:
        sum(part.sum() for part in call()).backward()  # type: ignore[union-attr]
    name = "torch.Tensor.split" if function == "split" else "torch.std_mean"
    assert [row.calls for row in rows_of(tool, name, backward=True)] == [1]


def test_the_median_and_the_sums(options: dict[str, Any], clock: Nanoseconds, work: Work) -> None:
    tool = OpTimeMeasure(stopwatch=HostStopwatch(now=clock), **options)
    with tool:
        for nanoseconds in (1_000, 2_000, 9_000):
            work.overload(torch.ones(3), nanoseconds)
    rows = work_rows(tool)
    assert [(x.calls, x.seconds, x.median) for x in rows] == [(3, 12e-6, 2e-6)]
    assert rows[0].shapes == ((3,),) and rows[0].dtypes == ("float32",)


def test_shapes_and_dtypes_are_distinguished(options: dict[str, Any]) -> None:
    with OpTimeMeasure(level="api", **options) as tool:
        for x in (torch.ones(2), torch.ones(2), torch.ones(3), torch.ones(2).double()):
            torch.neg(x)
    found = {(row.shapes, row.dtypes): row.calls for row in rows_of(tool, "torch.neg")}
    assert found == {
        (((2,),), ("float32",)): 2,
        (((3,),), ("float32",)): 1,
        (((2,),), ("float64",)): 1,
    }
    assert {row.level for row in tool.results.rows} == {"function"}


def test_lists_select_functions_with_their_overloads(options: dict[str, Any]) -> None:
    x = torch.ones(2, 2, requires_grad=True)
    with OpTimeMeasure(ops=LINEAR, exclude="aten.t.*", **options) as tool:
        torch.exp(torch.nn.functional.linear(x, x)).sum().backward()
    names = {(row.operator, row.function) for row in tool.results.rows}
    assert (LINEAR, "") in names
    assert ("aten.mm.default", LINEAR) in names
    assert not any("exp" in name or name.startswith("aten.t.") for name, _ in names)


# Devices with a queue


def test_devices_with_events_are_not_held_up(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Device()
    monkeypatch.setattr(torch, "get_device_module", lambda _: device)
    watch = stopwatch_for("queue")
    assert watch.name == "device events"
    before = device.synchronised

    def pass_time(nanoseconds: int) -> None:
        device.submitted += nanoseconds

    for work in working(pass_time):
        tool = OpTimeMeasure(stopwatch=watch, **options)
        with tool:
            for _ in range(4):
                work.overload(torch.ones(2), 5_000)
                dl_optools.step()
            assert device.synchronised == before
    # The first step is left out; the others were read when the device had finished them.
    assert [(x.calls, x.seconds) for x in work_rows(tool)] == [(3, pytest.approx(15e-6))]
    assert tool.results.seconds == pytest.approx(15e-6)
    assert device.synchronised == before + 1


def test_devices_whose_events_tell_no_time_are_synchronised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = Device()

    def refuse(*_: object) -> float:
        raise RuntimeError("no timing")

    monkeypatch.setattr(device.Event, "elapsed_time", refuse)
    monkeypatch.setattr(torch, "get_device_module", lambda _: device)
    watch = stopwatch_for("queue")
    assert watch.name == "host clock, device synchronised"
    before = device.synchronised
    watch.start(watch.begin())
    watch.stop()
    assert device.synchronised == before + 2


def test_the_tools_own_work_is_in_no_time() -> None:
    clock = Nanoseconds()
    watch = HostStopwatch(now=clock)
    outer = watch.start(watch.begin())
    clock.now += 100
    begun = watch.begin()
    clock.now += 10_000
    inner = watch.start(begun)
    clock.now += 50
    inner_stop, stopped = watch.stop()
    clock.now += 10_000
    watch.end(stopped)
    clock.now += 100
    outer_stop, _ = watch.stop()
    assert watch.seconds(inner, inner_stop) == pytest.approx(50e-9)
    assert watch.seconds(outer, outer_stop) == pytest.approx(250e-9)
    assert watch.own == 20_000


# Steps and budgets


def test_the_budget_decides_how_many_steps_are_measured(
    options: dict[str, Any], clock: Nanoseconds, work: Work
) -> None:
    class Reading(Nanoseconds):
        """A clock whose readings take time: a span of the tool is some microseconds."""

        def __call__(self) -> int:
            clock.now += 1_000
            return clock.now

    options.pop("budget")
    tool = OpTimeMeasure(
        stopwatch=HostStopwatch(now=Reading()), clock=lambda: clock.now / 1e9, **options
    )
    with tool:
        for _ in range(600):
            work.overload(torch.ones(2), 100_000)
            dl_optools.step()
    spending = tool.results.spending
    assert spending is not None and spending.percent == 2.0
    assert spending.steps == 600
    assert spending.overhead <= 2.0
    assert 3 <= spending.measured < 600
    # The first one is cold.
    assert tool.results.steps == spending.measured - 1
    assert [row.calls for row in work_rows(tool)] == [spending.measured - 1]


def test_a_program_without_steps_is_measured_whole(options: dict[str, Any]) -> None:
    with OpTimeMeasure(**options) as tool:
        for _ in range(5):
            torch.neg(torch.ones(2))
    assert [row.calls for row in rows_of(tool, "torch.neg")] == [5]
    assert tool.results.steps == 1 and not tool.results.cold


def test_calls_after_the_last_step_are_left_out_and_reported(options: dict[str, Any]) -> None:
    with OpTimeMeasure(**options) as tool:
        for _ in range(3):
            torch.neg(torch.ones(2))
            dl_optools.step()
        torch.exp(torch.ones(2))
    assert rows_of(tool, "torch.exp") == []
    assert tool.results.left_out == 1
    assert "left out: 1 calls" in options["stream"].getvalue()


def test_a_cold_step_alone_is_reported(options: dict[str, Any]) -> None:
    options["every"] = 5
    with OpTimeMeasure(**options) as tool:
        for _ in range(2):
            torch.neg(torch.ones(2))
            dl_optools.step()
    assert tool.results.cold
    assert "only the first step was measured" in options["stream"].getvalue()


# Traces


def test_results_are_bit_identical(options: dict[str, Any]) -> None:
    plain = train(4)
    with OpTimeMeasure(**options):
        timed = train(4)
    assert all(torch.equal(a, b) for a, b in zip(plain, timed, strict=True))


def test_nothing_is_left_in_torch(options: dict[str, Any]) -> None:
    from torch.optim import optimizer as torch_optimizer

    hooks = dict(torch_optimizer._global_optimizer_post_hooks)
    x = torch.ones(2, requires_grad=True)
    tool = OpTimeMeasure(**options)
    with tool:
        y = torch.exp(x)
        node = y.grad_fn
        assert node is not None
        handles = tool._recorder._handles[:]
        assert len(handles) == 2 and all(handle.hooks_dict_ref() for handle in handles)
    assert not any(handle.hooks_dict_ref() for handle in handles)
    assert _get_current_function_mode_stack() == []
    assert _get_current_dispatch_mode_stack() == []
    assert dict(torch_optimizer._global_optimizer_post_hooks) == hooks
    rows = len(tool.results.rows)
    y.sum().backward()
    assert len(tool.results.rows) == rows


def test_no_activation_is_kept_alive(options: dict[str, Any]) -> None:
    x = torch.ones(10, requires_grad=True)
    with OpTimeMeasure(**options):
        hidden = x * 2
        watch = weakref.ref(hidden)
        y = hidden + 1
        del hidden
        gc.collect()
        assert watch() is None
        y.sum().backward()


def test_an_error_passes_through_and_is_timed(options: dict[str, Any]) -> None:
    with OpTimeMeasure(**options) as tool:
        with pytest.raises(RuntimeError, match="must match"):
            torch.add(torch.ones(2, 3), torch.ones(2, 4))
        torch.neg(torch.ones(1))
    assert [row.calls for row in rows_of(tool, "torch.add")] == [1]
    assert [row.calls for row in rows_of(tool, "torch.neg")] == [1]


def test_by_apply_feature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DL_TOOLS_OUTPUT", str(tmp_path))
    before = torch.neg
    with dl_optools.apply_feature("torch.neg", "measure_op_time") as applied:
        applied.tool.device = "cpu"
        torch.neg(torch.ones(2))
        torch.exp(torch.ones(2))
    assert torch.neg is before
    assert isinstance(applied.tool, OpTimeMeasure)
    assert [(x.operator, x.calls) for x in applied.tool.results.rows] == [("torch.neg", 1)]
    assert len(list((tmp_path / "op_time_measure_result").iterdir())) == 3


# Files


def test_the_file_of_calls_has_the_columns_that_users_know(
    options: dict[str, Any], tmp_path: Path
) -> None:
    x = torch.ones(2, 3, requires_grad=True)
    with OpTimeMeasure(**options):
        torch.nn.functional.linear(x, torch.ones(4, 3)).sum().backward()
        torch.neg(torch.ones(2))
    with next(tmp_path.glob("op_elapsed_info_pid*.csv")).open(newline="", encoding="utf-8") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    linear, neg = rows[LINEAR], rows["torch.neg"]
    assert list(linear) == [
        "name",
        "forward_id",
        "forward_elapsed",
        "backward_elapsed",
        "unit",
        "input",
        "output",
        "grad_inputs",
        "grad_outputs",
    ]
    assert linear["unit"] == "ms"
    assert float(linear["forward_elapsed"]) > 0 and float(linear["backward_elapsed"]) > 0
    assert linear["input"] == "float32[2, 3] (requires grad); float32[4, 3]"
    assert linear["grad_inputs"] == "float32[2, 3]"
    assert linear["grad_outputs"] == "float32[2, 4]"
    assert (neg["backward_elapsed"], neg["grad_inputs"]) == ("", "")
    assert int(neg["forward_id"]) > int(linear["forward_id"])


def test_timed_functions_are_passed_on(options: dict[str, Any]) -> None:
    seen: list[TimedCall] = []
    x = torch.ones(2, 3, requires_grad=True)
    with OpTimeMeasure(**options, on_call=seen.append):
        torch.nn.functional.linear(x, torch.ones(4, 3)).sum().backward()
    linear, total = seen
    assert (linear.entry.row.operator, total.entry.row.operator) == (LINEAR, "torch.Tensor.sum")
    assert linear.forward > 0 and linear.backwards == 1 and linear.backward > 0


def test_a_listener_that_raises_stops_nothing(options: dict[str, Any], tmp_path: Path) -> None:
    def on_call(call: TimedCall) -> None:
        raise OSError("no space left")

    with OpTimeMeasure(**options, on_call=on_call) as tool:
        for _ in range(2):
            torch.neg(torch.ones(1))
            dl_optools.step()
    (row,) = rows_of(tool, "torch.neg")
    assert row.calls == 1
    with next(tmp_path.glob("op_elapsed_info_pid*.csv")).open(newline="", encoding="utf-8") as file:
        assert "torch.neg" in [row["name"] for row in csv.DictReader(file)]
    assert "] on_call raised OSError: no space left (" in options["stream"].getvalue()


def test_the_file_of_calls_grows_in_pieces(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OP_TOOLS_MAX_CACHE_SIZE", "3")
    with OpTimeMeasure(**options):
        for _ in range(2):
            for _ in range(4):
                torch.neg(torch.ones(1))
            dl_optools.step()
    with next(tmp_path.glob("op_elapsed_info_pid*.csv")).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    # One header, and no cold step, although its lines had been written before.
    assert [row["name"] for row in rows].count("torch.neg") == 4


def test_the_summary_reads_back(options: dict[str, Any], tmp_path: Path) -> None:
    with OpTimeMeasure(**options) as tool:
        train(2)
    with next(tmp_path.glob("op_time_summary_pid*.csv")).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(tool.results.rows)
    total = sum(float(row["self_elapsed"]) for row in rows)
    assert total == pytest.approx(sum(row.own for row in tool.results.rows) * 1e3, abs=1e-3)
    assert {row["direction"] for row in rows} == {"forward", "backward"}
    assert {row["level"] for row in rows} == {"function", "overload"}


@pytest.mark.skipif(
    getattr(torch.accelerator.current_accelerator(), "type", "") != "dl", reason="no dl device"
)
def test_on_dl(tmp_path: Path) -> None:
    weight = torch.randn(5, 4, device="dl", requires_grad=True)
    tool = OpTimeMeasure(directory=tmp_path, stream=io.StringIO(), budget="off", roofline=False)
    with tool:
        torch.nn.functional.linear(torch.randn(2, 3, 4).to("dl"), weight).sum().backward()
        torch.neg(torch.ones(2))
    assert [row.calls for row in rows_of(tool, LINEAR, backward=True)] == [1]
    assert rows_of(tool, "torch.neg") == []
    assert tool.results.device.startswith("dl")


def test_measurements_are_written_before_the_programs_end(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results survive a kill: see ``FLUSH_SECONDS``."""
    monkeypatch.setattr(time_measure, "FLUSH_SECONDS", 0.0)
    tool = OpTimeMeasure(**options)
    with tool:
        train(4)
        files = {path.name.partition("_pid")[0] for path in tmp_path.iterdir()}
        assert files == {"op_elapsed_info", "op_time_summary"}
        (calls,) = tmp_path.glob("op_elapsed_info_*")
        assert LINEAR in calls.read_text()
