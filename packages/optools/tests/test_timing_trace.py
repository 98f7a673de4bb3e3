"""`dl tool time --trace`: a timeline of steps, operators and gaps at their times."""

from __future__ import annotations

import io
import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from dl_optools import OpTimeMeasure
from dl_optools.launching.baseline import document_of, read
from dl_optools.timing.clocks import HostStopwatch
from dl_optools.timing.spans import Entry, Profile, Span, StepRecord
from dl_optools.timing.trace import Trace
from programs import dl, script
from timing_doubles import Nanoseconds


def trained(folder: Path, steps: int, device: str) -> list[dict[str, Any]]:
    """Return the timeline of some steps."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.GELU(), torch.nn.Linear(8, 2))
    model = model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(5, 6).to(device)
    with OpTimeMeasure(
        device=device,
        budget="off",
        roofline=False,
        trace=True,
        directory=folder,
        stream=io.StringIO(),
    ):
        for _ in range(steps):
            optimizer.zero_grad()
            model(x).square().sum().backward()
            optimizer.step()
    (path,) = folder.glob("op_time_trace_*.json")
    events: list[dict[str, Any]] = json.loads(path.read_text())
    return events


def end(event: dict[str, Any]) -> float:
    return float(event["ts"] + event["dur"])


DIGIT = 1e-6
"""Tolerance in microseconds: below the precision of a timeline, above rounding of sums."""


def problems(events: list[dict[str, Any]]) -> list[str]:
    """Return errors that Chrome's tracing or Perfetto would refuse or draw wrong."""
    found = []
    named = {(x["pid"], x["tid"]) for x in events if x["name"] == "thread_name"}
    processes = {x["pid"] for x in events if x["name"] == "process_name"}
    tracks: dict[Any, list[dict[str, Any]]] = {}
    for event in events:
        if event["ph"] == "M":
            good = isinstance(event["args"]["name"], str) and event["args"]["name"]
        elif event["ph"] == "C":
            good = event["ts"] >= 0 and all(type(x) is int for x in event["args"].values())
        else:
            good = event["ph"] == "X" and event["ts"] >= 0 and event["dur"] >= 0
            good = good and (event["pid"], event["tid"]) in named
            tracks.setdefault((event["pid"], event.get("tid")), []).append(event)
        if not (good and event["name"] and event["pid"] in processes):
            found.append(f"malformed: {event}")
    for track in tracks.values():
        open_ones: list[dict[str, Any]] = []
        for event in sorted(track, key=lambda x: (x["ts"], -x["dur"])):
            while open_ones and end(open_ones[-1]) <= event["ts"] + DIGIT:
                open_ones.pop()
            if open_ones and end(event) > end(open_ones[-1]) + DIGIT:
                found.append(f"overlap: {event} and {open_ones[-1]}")
            open_ones.append(event)
    return found


def test_its_structure_is_that_of_the_format(tmp_path: Path, device: str) -> None:
    events = trained(tmp_path, 2, device)
    assert problems(events) == []
    step = next(x for x in events if x["name"] == "measured step 1")
    for wrong in (
        {**step, "ph": "B"},
        {**step, "dur": -1.0},
        {**step, "tid": 77},
        {**step, "pid": 77},
        {**step, "name": ""},
        {**step, "ts": step["ts"] + step["dur"] / 2},
    ):
        assert problems([*events, wrong]) != [], wrong


def test_communication_that_overlaps_has_tracks_of_its_own(tmp_path: Path) -> None:
    clock = Nanoseconds()
    watch = HostStopwatch(None, clock)
    trace = Trace(tmp_path / "trace.json", watch, "")
    profile = Profile()
    record = StepRecord(profile, watch.mark())
    row = profile.row("overload", "c10d.allreduce_.default", False, "", ())
    # In milliseconds: the second begins before the first is done, the third after it.
    for start, finish in ((1, 5), (2, 9), (6, 8)):
        span = Span(Entry(row, (), ()), None, None)
        for name, at in (("start", start), ("stop", start), ("finish", finish)):
            clock.now = at * 1_000_000
            setattr(span, name, watch.mark())
        record.spans.append(span)
    clock.now = 10_000_000
    record.stop = watch.mark()
    trace.add(record)
    trace.close()
    events = json.loads(trace.path.read_text())
    assert problems(events) == []
    names = {x["tid"]: x["args"]["name"] for x in events if x["name"] == "thread_name"}
    sent = [x for x in events if x["ph"] == "X" and names[x["tid"]].startswith("communication")]
    assert [(x["ts"], names[x["tid"]]) for x in sent] == [
        (1000, "communication"),
        (2000, "communication 2"),
        (6000, "communication"),
    ]


def test_a_timeline(tmp_path: Path, device: str) -> None:
    events = trained(tmp_path, 3, device)
    tracks = {x["args"]["name"]: x["tid"] for x in events if x["name"] == "thread_name"}
    on = {
        name: [x for x in events if x["ph"] == "X" and x["tid"] == tracks[name]] for name in tracks
    }
    steps, operators = on["steps"], on["operators"]
    gaps = next(value for name, value in on.items() if name.startswith("gaps"))
    assert [x["name"] for x in steps] == [f"measured step {n}" for n in (1, 2, 3)]
    assert all(end(one) <= two["ts"] for one, two in pairwise(steps))
    slack = 0.01
    for each in (*operators, *gaps):
        inside = [x for x in steps if x["ts"] <= each["ts"] + slack and end(each) <= end(x) + slack]
        assert len(inside) == 1, each
    linear = [x for x in operators if x["name"] == "torch.nn.functional.linear"]
    assert [x["args"]["module"] for x in linear] == ["0", "2"] * 3
    assert all(Path(__file__).name in x["args"]["stack"][0] for x in linear)
    assert linear[0]["args"]["shapes"][0] == [5, 6]
    assert any(x["name"].endswith("(backward)") for x in operators)
    for gap in gaps:
        for each in operators:
            assert end(gap) <= each["ts"] + slack or end(each) <= gap["ts"] + slack, (gap, each)
    assert any(x["ph"] == "C" for x in events) == (device != "cpu")


def test_files_exist_before_the_end(tmp_path: Path) -> None:
    """Viewers accept an array without its end, as a killed program leaves it."""
    clock = Nanoseconds()
    watch = HostStopwatch(None, clock)
    trace = Trace(tmp_path / "trace.json", watch, "3")
    record = StepRecord(Profile(), watch.mark())
    clock.now = 2_000_000
    record.stop = watch.mark()
    trace.add(record)
    events = json.loads(trace.path.read_text() + "]")
    (step,) = (x for x in events if x["name"] == "measured step 1")
    assert step["dur"] == 2000 and step["pid"] == 3
    (gap,) = (x for x in events if x["name"] == "gap")
    assert (gap["ts"], gap["dur"]) == (0, 2000)
    trace.close()
    assert json.loads(trace.path.read_text()) == events


PROGRAM = """
import torch
x = torch.ones(512, 512)
for _ in range(40):
    (x @ x).sum()
"""


def test_the_command(tmp_path: Path) -> None:
    """Write a timeline and a baseline; exit with 1 if an operator is slower than before."""
    before, kept = tmp_path / "before.json", tmp_path / "kept.json"
    mul = {"seconds": 1e-9, "share": 0.1}
    before.write_text(document_of({"time": {"torch.Tensor.matmul": mul}}))
    program = ("--", sys.executable, script(tmp_path, PROGRAM))
    options = ("--device", "cpu", "--trace", "--baseline", str(before))
    more = ("--save-baseline", str(kept), "--set", "OP_TIME_MEASURE_BUDGET=off")
    done = dl(tmp_path, "tool", "time", *options, *more, *program)
    assert done.returncode == 1, done.stderr
    assert "worse than the baseline: torch.Tensor.matmul: " in done.stderr
    (path,) = (tmp_path / "results").rglob("op_time_trace_*.json")
    assert "torch.Tensor.matmul" in path.read_text()
    assert read(kept)["time"]["torch.Tensor.matmul"]["seconds"] > 1e-6
    wrong = dl(tmp_path, "tool", "compare", "--baseline", str(before), *program)
    assert wrong.returncode == 2 and "is a baseline of time" in wrong.stderr
