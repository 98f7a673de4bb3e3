"""Merged reports of ranks, compare as a gate, and baselines of earlier runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from dl_optools.compare.compare_page import compare_page
from dl_optools.launching.baseline import (
    BaselineError,
    document_of,
    find_regressions,
    find_slowdowns,
    read,
)
from dl_optools.launching.merging import compare_text, overflow_text, seconds_of, time_text
from dl_optools.launching.reports import Report
from programs import dl, script


def compared(rank: str, failed: int = 0, **values: Any) -> Report:
    operators = {
        "aten.mm.default": {"checked": 4, "failed": failed, "units": 3.5 if failed else 0.5},
        "aten.add.Tensor": {"checked": 2, "failed": 0, "units": None},
    }
    found = {
        "calls": 9,
        "checked": 6,
        "failed": failed,
        "operators": operators,
        "failures": {"aten.mm.default": "far off"} if failed else {},
        "seen": {"aten.mm.default": 5, "aten.add.Tensor": 4},
        "coverage": "compared 6 of 9 calls",
        "text": "of one process\n",
        **values,
    }
    return Report("compare", 100, rank, found)


def test_a_launcher_adds_nothing() -> None:
    empty = compared("", calls=0, checked=0, operators={}, seen={}, text="empty\n")
    assert compare_text([empty, compared("0")]) == "of one process\n"
    assert compare_text([empty]) == "empty\n"


def test_ranks_are_merged() -> None:
    seen = {"aten.mm.default": 5, "aten.add.Tensor": 4, "aten.extra.default": 1}
    told = compare_text([compared("0"), compared("1", failed=2, seen=seen)])
    assert "2 of 12 comparisons found a wrong result, in 2 processes" in told
    line = next(x for x in told.splitlines() if x.startswith("aten.mm.default"))
    assert line.split()[1:4] == ["8", "2", "3.5"] and line.endswith("rank 1")
    assert "aten.add" not in told.partition("not on all ranks")[0]
    assert "rank 0: compared 6 of 9 calls" in told
    assert "rank 1 also called aten.extra.default" in told and "far off" in told
    page = compare_page([(x.label, x.found) for x in (compared("0"), compared("1", failed=2))])
    assert "rank 1: 2 of 6 wrong" in page and "wrong on" in page


def test_stragglers_and_ranks_with_nan() -> None:
    times = [
        Report("time", 1, rank, {"calls": 1, "step": step, "operators": {"mm": step, "x": 0.1}})
        for rank, step in (("0", 1.0), ("1", 1.0), ("2", 1.3))
    ]
    lines = time_text(times).splitlines()
    assert [x for x in lines if "straggler" in x] == [lines[-1]] and "mm" in lines[-1]
    assert time_text(times[:1]) == ""
    # If all wait for all, steps are equally long.
    waiting = [
        Report("time", 1, rank, {"calls": 1, "step": 1.0, "operators": {"mm": mm, "c10d.x": 0.9}})
        for rank, mm in (("0", 0.2), ("1", 0.9))
    ]
    (late,) = (x for x in time_text(waiting).splitlines() if "straggler" in x)
    assert late.startswith("rank 1")
    overflown = [
        Report("overflow", 1, rank, {"calls": 1, "tensors": 3, "bad": bad, "first": first})
        for rank, bad, first in (("0", 0, ""), ("1", 2, "torch.log"))
    ]
    assert "torch.log" in overflow_text(overflown).splitlines()[-1]


def test_regressions_against_a_baseline(tmp_path: Path) -> None:
    def each(failed: int = 0, units: Any = 0.3) -> dict[str, Any]:
        return {"checked": 4, "failed": failed, "units": units}

    path = tmp_path / "baseline.json"
    was = {"a": each(), "b": each(), "c": each(1, 4.0), "d": each()}
    path.write_text(document_of({"compare": was}))
    before = read(path)["compare"]
    assert find_regressions(before, before) == []
    assert find_regressions(before, {**before, "new": each()}) == []
    now = {"a": each(1, "inf"), "b": each(units=0.8), "c": each(2, 4.5), "new": each(1, 2.0)}
    worse = find_regressions(before, now)
    assert [x.partition(":")[0] for x in worse] == ["a", "b", "new", "d"]
    for text in ("", "[]", '{"format": 2}', '{"format": 2, "compare": {"a": {}}}'):
        path.write_text(text)
        with pytest.raises(BaselineError, match="not a baseline"):
            read(path)


def test_slowdowns_against_a_baseline(tmp_path: Path) -> None:
    def timed(**milliseconds: float) -> dict[str, dict[str, Any]]:
        step = sum(milliseconds.values()) / 1e3
        found = {"calls": 1, "step": step}
        operators = {name: x / 1e3 for name, x in milliseconds.items()}
        return seconds_of([Report("time", 1, "", {**found, "operators": operators})])

    path = tmp_path / "baseline.json"
    path.write_text(document_of({"time": timed(mm=60, add=30, tiny=0.1, gone=5)}))
    before = read(path)["time"]
    assert find_slowdowns(before, before) == []
    assert find_slowdowns(before, timed(mm=65, add=33, tiny=1)) == []
    mm, new = find_slowdowns(before, timed(mm=120, add=30, tiny=0.1, new=50))
    assert mm == "mm: 120 ms a step, 60 ms before; 30% of the step"
    assert new.startswith("new: 50 ms a step, not in the baseline")
    # With several ranks the slowest counts.
    ranks = [
        Report("time", 1, str(rank), {"calls": 1, "step": 1.0, "operators": {"mm": seconds}})
        for rank, seconds in enumerate((0.1, 0.4, 0.2))
    ]
    assert seconds_of(ranks) == {"mm": {"seconds": 0.4, "share": 0.4}}


WRONG = """
import sys, torch
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

class Device(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result * 1.01 if str(func) == sys.argv[1] else result

above = [_python_dispatch._pop_mode() for _ in range(torch._C._len_torch_dispatch_stack())]
Device().__enter__()
for mode in reversed(above):
    _python_dispatch._push_mode(mode)
torch.ones(3).exp().sin()
"""


def test_compare_gates(tmp_path: Path) -> None:
    program = script(tmp_path, WRONG)
    baseline = str(tmp_path / "baseline.json")
    rest = ("--", sys.executable, program)
    options = ("tool", "compare", "--device", "cpu")
    wrong = dl(tmp_path, *options, "--save-baseline", baseline, *rest, "aten.sin.default")
    assert wrong.returncode == 1 and "aten.sin.default" in wrong.stderr
    # Correct operators are not listed after wrong ones.
    assert "aten.exp.default" not in wrong.stderr
    known = dl(tmp_path, *options, "--baseline", baseline, *rest, "aten.sin.default")
    assert known.returncode == 0 and "nothing is worse" in known.stderr
    nothing = script(tmp_path, "import torch")
    done = dl(tmp_path, *options, "--", sys.executable, nothing)
    assert done.returncode == 2 and "nothing was compared" in done.stderr
    pages = list((tmp_path / "results").rglob("op_autocompare_report_*.html"))
    assert any("aten.sin.default" in x.read_text(encoding="utf-8") for x in pages)
