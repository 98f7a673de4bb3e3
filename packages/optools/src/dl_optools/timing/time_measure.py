"""Tool that times operators, forward and backward, as a share of a step."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import torch
from typing_extensions import Unpack

from dl_optools import levels
from dl_optools.budget import Spending
from dl_optools.call import OpCall
from dl_optools.environment import environment
from dl_optools.modules import MODULE_PATH
from dl_optools.names import Level
from dl_optools.options import flag, read
from dl_optools.outputs import results_directory, run_stamp, unused_path
from dl_optools.sampling import SampledOptions, SampledTool
from dl_optools.timing.calls import CallsFile
from dl_optools.timing.clocks import Stopwatch, stopwatch_for
from dl_optools.timing.communication import communicates
from dl_optools.timing.recorder import Recorder
from dl_optools.timing.report import write_report
from dl_optools.timing.results import TimeResults
from dl_optools.timing.roofline import cached_roofline, describe_device
from dl_optools.timing.spans import TimedCall
from dl_optools.timing.trace import Trace, allocated_bytes
from dl_optools.tool import Tool

FLUSH_SECONDS = 5.0
"""Interval in seconds at which results are written, in case the program is killed."""
TRACE_VARIABLE = "OP_TIME_MEASURE_TRACE"


class _Overloads(Tool):
    """Passes the dispatcher's overloads to the timing tool."""

    variable = "TIME_MEASURE"
    observes = True
    every_thread = False

    def __init__(self, owner: OpTimeMeasure, recorder: Recorder, only_communication: bool) -> None:
        super().__init__(
            level=Level.DISPATCH,
            ops=".*",
            exclude=(),
            device=owner.device,
            condition=owner.condition,
        )
        self._recorder = recorder
        self._only_communication = only_communication

    def wants(self, name: str, function: Callable[..., Any]) -> bool:
        return communicates(name) or not self._only_communication

    def handle(self, call: OpCall) -> Any:
        return self._recorder.overload(call)


class OpTimeMeasure(SampledTool):
    """Times operators: Python functions with their part of backward, and the overloads in them.

    Devices with events in their streams are not delayed; on other devices a synchronisation
    follows each operator; it preserves the order of work, but not its overlap. The tool is absent
    in most steps: it measures as many as its budget allows, by default 2 % of the program's time.

    At its end it writes to ``op_tools_results/op_time_measure_result`` the calls
    (``op_elapsed_info_<run>.csv``), their sums by operator, shape and dtype
    (``op_time_summary_<run>.csv``) and a report (``op_time_report_<run>.html``). Variables:
    ``OP_TIME_MEASURE_LIST``, ``OP_TIME_MEASURE_DISABLE_LIST``, ``OP_TIME_MEASURE_EVERY``,
    ``OP_TIME_MEASURE_BUDGET`` (see :class:`SampledTool`) and ``OP_TOOLS_MAX_CACHE_SIZE``.

    With ``trace``, or ``OP_TIME_MEASURE_TRACE=1``, it also writes the measured steps as a timeline
    (``op_time_trace_<run>.json``) for Chrome's tracing and Perfetto: steps, operators with module
    and stack, gaps, communication, memory.

    :param roofline: at the end, measure the device's peak rates and compare with them, which takes
        seconds.
    :param directory: output directory (default: as above).
    :param stream: receives a table at the end; None: stderr.
    :param on_call: called for each timed function when its step has ended, with its times. What
        it raises is reported when the tool stops.
    :param options: options of :class:`SampledTool`, of which
        ``level`` is ``"dispatch"``: functions and overloads; ``"api"``: functions only, which costs
        less; communication is timed in both.
    """

    variable = "TIME_MEASURE"
    default_level = Level.DISPATCH
    observes = True
    default_budget = 2.0

    def __init__(
        self,
        *,
        stopwatch: Stopwatch | None = None,
        roofline: bool = True,
        trace: bool | None = None,
        directory: Path | str | None = None,
        stream: TextIO | None = None,
        on_call: Callable[[TimedCall], None] | None = None,
        **options: Unpack[SampledOptions],
    ) -> None:
        super().__init__(**options)
        self._given_stopwatch = stopwatch
        self._roofline = roofline
        if trace is None:
            trace = read(environment(), TRACE_VARIABLE, flag, False, "1 or 0")
        self._traced = trace
        self._directory = None if directory is None else Path(directory)
        self._stream = stream
        self._on_call = on_call
        self._cache = read(
            environment(),
            "OP_TOOLS_MAX_CACHE_SIZE",
            int,
            5000,
            "a count of calls to keep in memory",
        )
        self.results = TimeResults()
        """Results: complete once the tool has stopped."""

    # Lifetime

    def opened(self) -> None:
        assert self.device is not None
        directory = results_directory("op_time_measure_result", self._directory)
        self._paths = [
            unused_path(directory / f"{name}_{run_stamp()}{ending}")
            for name, ending in (
                ("op_elapsed_info", ".csv"),
                ("op_time_summary", ".csv"),
                ("op_time_report", ".html"),
                ("op_time_trace", ".json"),
            )
        ]
        self._calls = CallsFile(self._paths[0], self._cache)
        self._flushed = time.monotonic()
        self._watch = self._given_stopwatch or stopwatch_for(self.device)
        self._own_before = self._watch.own
        self._trace = None
        if self._traced:
            MODULE_PATH.open()
            self._trace = Trace(self._paths[3], self._watch, environment().get("RANK", ""))
        memory = allocated_bytes(self.device) if self._traced else None
        self._recorder = Recorder(
            self._watch, self.selection, self._calls, self._trace, memory, self._on_call
        )
        self._overloads: _Overloads | None = None

    def enter(self) -> None:
        levels.add(self, Level.API)
        # Processes that communicate need the dispatcher's level; other processes use the chosen
        # level.
        talks = torch.distributed.is_available() and torch.distributed.is_initialized()
        if self.level is Level.DISPATCH or talks:
            self._overloads = _Overloads(self, self._recorder, self.level is Level.API)
            levels.add(self._overloads, Level.DISPATCH)

    def leave(self) -> None:
        levels.remove(self, Level.API)
        if self._overloads is not None:
            levels.remove(self._overloads, Level.DISPATCH)
            self._overloads = None
        self._recorder.unhook()

    def handle(self, call: OpCall) -> Any:
        return self._recorder.function(call)

    def step_ended(self) -> None:
        self._recorder.end_step()
        self._recorder.resolve(wait=False)
        now = time.monotonic()
        if now - self._flushed >= FLUSH_SECONDS:
            self._flushed = now
            self._write_so_far()

    def _write_so_far(self) -> None:
        """Write calls and sums so far, in case the program is killed."""
        self._calls.flush()
        summary = self._paths[1]
        with self.writing(summary):
            self._results(None).write_csv(summary)

    def step_begins(self) -> None:
        self._recorder.begin_step()

    def spent(self) -> float:
        before, self._own_before = self._own_before, self._watch.own
        return (self._own_before - before) / 1e9

    def closed(self) -> None:
        if self.measuring:
            self.budget.charge(self.spent())
            self._recorder.end_step(whole=False)
        self._recorder.resolve(wait=True)
        spending = self.budget.spending()
        super().closed()
        self._report(spending)

    def report(self) -> dict[str, Any]:
        results = self.results
        steps = max(results.steps, 1)
        operators: dict[str, float] = {}
        for row in results.outermost():
            # Use the median, so that a single outlier is not a regression.
            operators[row.operator] = operators.get(row.operator, 0.0) + row.typical / steps
        calls = sum(row.calls for row in results.rows)
        return {"calls": calls, "step": results.seconds / steps, "operators": operators}

    def _report(self, spending: Spending) -> None:
        elapsed, summary, report, timeline = self._paths
        self._calls.close()
        if self._trace is not None:
            MODULE_PATH.close()
            with self.writing(timeline):
                self._trace.close()
            self.losses += [self._trace.problem] if self._trace.problem else []
        assert self.device is not None
        self.results = results = self._results(spending)
        if self._roofline and results.rows:
            dtypes = sorted({dtype for row in results.rows for dtype in row.flops})
            results.roofline = cached_roofline(self.device, dtypes)
        self.losses += self._calls.losses
        with self.writing(summary):
            results.write_csv(summary)
        with self.writing(report):
            write_report(results, report)
        if self.reports and not results.rows:
            # A launcher or a data loader: the processes that compute have tables.
            return
        stream = sys.stderr if self._stream is None else self._stream
        stream.write(results.table() + "\n")
        for reason, count in self._recorder.listener_errors.items():
            stream.write(f"[OpTimeMeasure] {reason} ({count} x)\n")
        for path in (elapsed, summary, report, *([timeline] if self._trace else ())):
            stream.write(f"[OpTimeMeasure] {self.describe_destination(path)}\n")

    def _results(self, spending: Spending | None) -> TimeResults:
        """Return the results so far, without a roofline."""
        profile = self._recorder.profile
        assert self.device is not None
        return TimeResults(
            # Backward that never ran, and calls after the last step, left empty rows.
            rows=[row for row in profile.rows.values() if row.calls],
            device=describe_device(self.device),
            clock=self._watch.name,
            steps=profile.steps,
            seconds=profile.seconds,
            cold=self._recorder.cold and spending is not None and spending.steps > 1,
            spending=spending,
            left_out=self._recorder.left_out + self._calls.left_out,
        )
