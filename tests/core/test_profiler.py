"""torch.profiler shows the device's activity: rows with times, arrows to them, memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

from .processes import RUNS_ONCE, output
from .stub_vendor import StubVendor

BOTH = [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]


def step(count: int = 1) -> None:
    x, w = torch.ones(64, 64, device="dl"), torch.ones(64, 64, device="dl")
    for _ in range(count):
        (x @ w).relu()
    torch.dl.synchronize()


def device_rows(found: profile) -> list[Any]:
    events = found.events() or []
    return [each for each in events if each.device_type == torch.autograd.DeviceType.PrivateUse1]


def is_of(name: str, operator: str) -> bool:
    """Return True if a row belongs to an operator: by its name, or by the kernel's name if vendors
    trace kernels."""
    return name == operator or f"{operator.removeprefix('diopi')}Op" in name


def rows_of(found: profile, operator: str) -> list[Any]:
    return [row for row in device_rows(found) if is_of(row.name, operator)]


def trace(found: profile, folder: Path) -> list[dict[str, Any]]:
    path = folder / "trace.json"
    found.export_chrome_trace(str(path))
    events: list[dict[str, Any]] = json.loads(path.read_text())["traceEvents"]
    return events


def test_the_activity_has_our_name_too() -> None:
    assert ProfilerActivity.PrivateUse1 == ProfilerActivity.DL  # type: ignore[attr-defined]
    assert ProfilerActivity.PrivateUse1 in torch.profiler.supported_activities()


def test_kernels_are_rows_of_the_device_with_its_time() -> None:
    step()
    with profile(activities=BOTH) as found:
        step(3)
    rows = [row.name for row in rows_of(found, "diopiRelu")]
    assert len(rows) == 3 and len(device_rows(found)) >= 6  # products may take more than a kernel
    averages = {row.key: row for row in found.key_averages()}
    relu = averages["aten::relu"]
    assert relu.count == 3 and relu.device_time_total > 0
    # The kernel's time is counted once, for the operator that enqueued it.
    assert averages[rows[0]].device_time_total == pytest.approx(relu.device_time_total)
    table = found.key_averages().table(sort_by="device_time_total", max_name_column_width=None)
    assert "Self DL" in table and "DL total" in table and rows[0] in table


def test_device_time_lies_within_the_profile_and_in_order() -> None:
    with profile(activities=BOTH) as found:
        step(5)
    rows = rows_of(found, "diopiRelu")
    whole = [row for row in found.events() or [] if row.name == "aten::relu"]
    assert len(rows) == len(whole) == 5
    for kernel, operator in zip(rows, whole, strict=True):
        assert kernel.time_range.start >= operator.time_range.start - 100  # microseconds
        assert kernel.time_range.end >= kernel.time_range.start
    ends = [row.time_range.end for row in rows]
    assert ends == sorted(ends)


def test_the_device_alone_can_be_recorded() -> None:
    with profile(activities=[ProfilerActivity.PrivateUse1]) as found:
        step()
    assert rows_of(found, "diopiRelu")


def test_a_profile_of_the_cpu_leaves_the_device_out() -> None:
    torch.dl.reset_native_stats()
    with profile(activities=[ProfilerActivity.CPU]) as found:
        step()
    assert device_rows(found) == []
    assert "aten::relu" in [row.key for row in found.key_averages()]
    assert not torch.dl.native_stats()


def test_arrows_lead_from_the_host_to_the_device(tmp_path: Path) -> None:
    with profile(activities=BOTH) as found:
        step(2)
    events = trace(found, tmp_path)
    kernels = [each for each in events if each.get("cat") == "kernel"]
    calls = [each for each in events if each.get("cat") == "privateuse1_runtime"]
    assert "diopiRelu" in {each["name"] for each in calls}
    starts = {each["id"] for each in events if each.get("ph") == "s" and each["cat"] == "ac2g"}
    ends = {each["id"] for each in events if each.get("ph") == "f" and each["cat"] == "ac2g"}
    assert len(starts & ends) >= 4
    relu = next(each for each in kernels if is_of(each["name"], "diopiRelu"))
    assert relu["args"]["device"] == 0 and "stream" in relu["args"]


def test_streams_have_rows_of_their_own(tmp_path: Path) -> None:
    side = torch.dl.Stream()
    with profile(activities=BOTH) as found:
        with torch.dl.stream(side):
            torch.ones(8, device="dl").relu()
        torch.ones(8, device="dl").neg()
        torch.dl.synchronize()
    kernels = [each for each in trace(found, tmp_path) if each.get("cat") == "kernel"]
    relu, neg = (
        next(each for each in kernels if is_of(each["name"], name))
        for name in ("diopiRelu", "diopiNeg")
    )
    if torch.dl.get_device_properties(0).vendor != "cpu":
        assert relu["tid"] != neg["tid"] and relu["args"]["stream"] != neg["args"]["stream"]


def test_functions_and_shapes_are_recorded() -> None:
    with (
        profile(activities=BOTH, record_shapes=True) as found,
        record_function("my block"),
    ):
        torch.ones(64, 64, device="dl").relu()
    averages = {row.key: row for row in found.key_averages(group_by_input_shape=True)}
    assert averages["my block"].device_time_total > 0
    assert [64, 64] in averages["aten::relu"].input_shapes


def test_a_schedule_records_its_steps() -> None:
    seen: list[int] = []

    def ready(found: profile) -> None:
        seen.append(len(rows_of(found, "diopiRelu")))

    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(activities=BOTH, schedule=plan, on_trace_ready=ready, acc_events=True) as found:
        for _ in range(8):
            step()
            found.step()
    assert seen == [2, 4]


def test_memory_usage_is_reported() -> None:
    size = 1 << 20
    with profile(activities=BOTH, profile_memory=True) as found:
        kept = torch.empty(size, dtype=torch.uint8, device="dl")
        torch.empty(size, dtype=torch.uint8, device="dl")
    assert kept.shape == (size,)
    averages = {row.key: row for row in found.key_averages()}
    assert averages["aten::empty"].self_device_memory_usage >= size
    table = found.key_averages().table(sort_by="self_device_memory_usage")
    assert "DL Mem" in table


def test_backward_and_other_threads_are_recorded() -> None:
    x = torch.ones(16, 16, device="dl", requires_grad=True)
    with profile(activities=BOTH) as found:
        (x @ x).relu().sum().backward()
        torch.dl.synchronize()
    names = [row.name for row in device_rows(found)]
    assert any("Threshold" in name for name in names)


def test_a_profiler_inside_another_does_what_it_does_on_the_cpu(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with profile(activities=BOTH), profile(activities=BOTH) as inner:
        step()
    assert "no active profiling session" in capfd.readouterr().err
    assert rows_of(inner, "diopiRelu")
    with profile(activities=BOTH) as after:
        step()
    assert len(rows_of(after, "diopiRelu")) == 1


def test_stopping_twice_is_reported_by_torch_and_nothing_hangs(
    capfd: pytest.CaptureFixture[str],
) -> None:
    found = profile(activities=BOTH)
    found.start()
    step()
    found.stop()
    assert rows_of(found, "diopiRelu")
    assert "no active profiling session" not in capfd.readouterr().err
    found.stop()
    assert "no active profiling session" in capfd.readouterr().err
    with profile(activities=BOTH) as again:
        step()
    assert rows_of(again, "diopiRelu")


def test_the_older_profiler_times_operators_by_events() -> None:
    with torch.autograd.profiler.profile(use_device="dl") as found:
        step(2)
    averages = {row.key: row for row in found.key_averages()}
    assert 0 < averages["aten::mm"].device_time_total <= averages["aten::matmul"].device_time_total


def test_counting_operators_and_profiling_do_not_meet() -> None:
    torch.dl.reset_native_stats()
    with torch.dl.profile_operators(), profile(activities=BOTH) as found:
        step()
    assert torch.dl.native_stats()["relu"]["count"] == 1
    torch.dl.reset_native_stats()
    with profile(activities=BOTH) as found:
        step()
    assert torch.dl.native_stats() == {}
    assert len(device_rows(found)) > 0


WITHOUT_EXTENSIONS = """
#include <dlfcn.h>
#include "dl/vendor.h"

extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t* host, dl_vendor_t** out) {
  static void* const library = dlopen("LIBRARY", RTLD_NOW | RTLD_LOCAL);
  using Make = dl_status_t* (*)(const dl_host_t*, dl_vendor_t**);
  dl_status_t* const status = reinterpret_cast<Make>(dlsym(library, "dl_vendor_v1"))(host, out);
  if (status != nullptr) return status;
  static dl_vendor_table_t table;
  table = *(*out)->table;
  table.extensions = nullptr;
  (*out)->table = &table;
  return nullptr;
}
"""
"""The asynchronous vendor as one that has events and no profiler of its own."""


@RUNS_ONCE
def test_without_the_extension_times_are_those_of_events(tmp_path: Path) -> None:
    plugin = pytest.importorskip("dl_vendor_async_test.plugin")
    library = str(plugin.dl_vendor().library)
    stub = StubVendor(tmp_path).compile(WITHOUT_EXTENSIONS.replace("LIBRARY", library))
    code = """
import torch
from torch.profiler import ProfilerActivity, profile
x = torch.ones(64, 64, device="dl")
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as found:
    for _ in range(3):
        (x + x).relu()
    torch.dl.synchronize()
rows = [row for row in found.events() if str(row.device_type) == "DeviceType.DL"]
assert [row.name for row in rows] == ["diopiAdd", "diopiRelu"] * 3, rows
# Each item takes the device a millisecond, which the host's call does not.
assert all(900 < row.time_range.elapsed_us() for row in rows), rows
starts = [row.time_range.start for row in rows]
assert starts == sorted(starts)
print(len(rows))
"""
    variables = {**stub.variables(), "DL_ASYNC_TEST_DELAY_US": "1000"}
    assert output(code, **variables).splitlines()[-1] == "6"


def test_marks_for_a_vendors_tool_are_refused() -> None:
    """Marks are unsupported, and torch would call a missing function."""
    from torch._C import _profiler
    from torch.autograd import ProfilerActivity, _enable_profiler

    config = _profiler.ProfilerConfig(
        _profiler.ProfilerState.PRIVATEUSE1,
        False,
        False,
        False,
        False,
        False,
        _profiler._ExperimentalConfig(),
    )
    with pytest.raises(NotImplementedError, match=r"no ranges; use torch\.profiler"):
        _enable_profiler(config, {ProfilerActivity.CPU})
