"""The tools of dl-optools with ditorch's defaults and lines on stdout.

Each tool observes every call of the functions of torch's Python interface. The lines contain the
words that users of ditorch search for; "elasped" is its spelling.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

from dl_optools import fallback
from dl_optools.arguments import facts_of, facts_of_result, named_facts
from dl_optools.call import OpCall
from dl_optools.capture import capture
from dl_optools.compare import autocompare
from dl_optools.compare.call_comparison import CallComparison, CheckedCall
from dl_optools.environment import environment
from dl_optools.features import tool_class
from dl_optools.names import Level
from dl_optools.patching import Applied, apply_tool
from dl_optools.replay.lines import comparison_line
from dl_optools.selection import EVERYTHING
from dl_optools.timing import time_measure
from dl_optools.timing.spans import TimedCall
from dl_optools.tool import Condition, Tool

from .describing import describe_call, describe_result


def write_line(text: str) -> None:
    """Write a line to stdout, in one piece: tools also write in threads of their own."""
    if sys.stdout is not None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


class Announcing(Tool):
    """Writes a line for each function when it is first called: whether the tool acts on it."""

    hook: ClassVar[str]
    """Name of ditorch's class."""

    def opened(self) -> None:
        self._wanted: dict[str, bool] = {}
        self._announced: set[str] = set()
        super().opened()

    def wants(self, name: str, function: Callable[..., Any]) -> bool:
        wanted = super().wants(name, function)
        if self.level is not Level.API:
            return wanted
        self._wanted[name] = wanted
        return True

    def handle(self, call: OpCall) -> Any:
        wanted = self._wanted.get(call.name, True)
        self.announce(call.name, wanted)
        return super().handle(call) if wanted else call.proceed()

    def announce(self, name: str, applied: bool) -> None:
        """Write the line of a function, unless it was written."""
        if name not in self._announced:
            self._announced.add(name)
            write_line(f"{'apply' if applied else 'skip'} {self.hook} on {name}")


class OpAutoCompare(Announcing, autocompare.OpAutoCompare):
    """Compares every call of every function, unless ``AUTOCOMPARE_EVERY`` is set."""

    hook = "OpAutoCompareHook"

    def __init__(self, **options: Any) -> None:
        options.setdefault("level", "api")
        if not environment().get("AUTOCOMPARE_EVERY", "").strip():
            options.setdefault("every", 1)
        options.setdefault("on_result", self._log)
        super().__init__(**options)

    def _log(self, checked: CheckedCall, found: CallComparison) -> None:
        outputs = sum(part.output.startswith("output") for part in found.parts)
        for part in found.parts:
            write_line(comparison_line(found.name, part.output, part.ok, part.max_abs, outputs > 1))
        if found.ok:
            return
        args, kwargs = checked.tree[:2]
        write_line(f"{self.hook}: {found.name} input: {describe_call(args, kwargs)}")
        for line in found.detail.splitlines():
            write_line(f"{self.hook}: {found.name} {line}")
        if found.name in self.results.bundles:
            write_line(f"{self.results.bundles[found.name]}/bundle.json saved")


class OpCapture(Announcing, capture.OpCapture):
    """Captures every call of every function."""

    hook = "OpCaptureHook"

    def __init__(self, **options: Any) -> None:
        options.setdefault("on_bundle", self._log)
        super().__init__(**options)

    def _log(self, path: Path, gradients: bool) -> None:
        write_line(f"{path} saved{' with gradients' if gradients else ''}")


class OpFallback(Announcing, fallback.OpFallback):
    """Runs every function on the CPU, except those that only draw random numbers: it skips them."""

    hook = "OpFallbackHook"

    def handle(self, call: OpCall) -> Any:
        if not self._wanted.get(call.name, True) or self.level is not Level.API:
            return super().handle(call)
        given = facts_of(call.args), named_facts(call.kwargs)
        result, applied = self.run_function(call)
        self.announce(call.name, applied)
        if not applied:
            return result
        results = facts_of_result(result)
        write_line(f"{self.hook}: {call.name:<50} input: {describe_call(*given)}")
        write_line(
            f"{self.hook}: {call.name:<50} output: {describe_result(results)} "
            f"cpu output: {describe_result(results, device='cpu')} dtype_convert_back_dict:{{}}"
        )
        return result


class OpTimeMeasure(Announcing, time_measure.OpTimeMeasure):
    """Times every call of every function, unless ``OP_TIME_MEASURE_BUDGET`` is set."""

    hook = "OpTimeMeasureHook"

    def __init__(self, **options: Any) -> None:
        options.setdefault("level", "api")
        if not environment().get("OP_TIME_MEASURE_BUDGET", "").strip():
            options.setdefault("budget", "off")
        options.setdefault("on_call", self._log)
        super().__init__(**options)

    def _log(self, call: TimedCall) -> None:
        name = call.entry.row.operator
        write_line(
            f"{self.hook}: {name:<33} forward elasped: {call.forward * 1e3:>11.8f} ms     "
            f"input: {describe_call(call.entry.facts, call.entry.named)} "
            f"output: {describe_call(call.result)}"
        )
        if call.backwards:
            each = call.backward / call.backwards * 1e3
            write_line(f"{self.hook}: {name:<33} backward elasped: {each:>11.8f} ms")


_CLASSES: dict[str, type[Tool]] = {
    "autocompare": OpAutoCompare,
    "fallback": OpFallback,
    "measure_op_time": OpTimeMeasure,
    "op_capture": OpCapture,
}


def apply_feature(
    ops: str | Iterable[str],
    feature: str,
    condition_func: Condition | None = None,
    **options: Any,
) -> Applied:
    """Apply a tool to single functions; see :func:`dl_optools.apply_feature`."""
    make = _CLASSES.get(feature) or tool_class(feature)
    tool = make(level=Level.API, ops=EVERYTHING, exclude=(), condition=condition_func, **options)
    return apply_tool(ops, tool)
