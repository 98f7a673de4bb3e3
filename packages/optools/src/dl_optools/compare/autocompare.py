"""Comparison of every operator with the CPU's float64 in units of the rounding bound."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import IO, Any, cast

import torch
from typing_extensions import Unpack

from diopi_proto.tolerance.torch_operators.op_classes import draws, may_compute
from diopi_proto.tolerance.torch_operators.schema import Overload
from dl_optools import levels
from dl_optools.attribution import Attribution
from dl_optools.budget import Clock
from dl_optools.call import OpCall
from dl_optools.capture.limits import limits_of
from dl_optools.compare.background import Background
from dl_optools.compare.call_checks import CallChecks
from dl_optools.compare.call_comparison import CallComparison, CheckedCall
from dl_optools.compare.compare_page import compare_page
from dl_optools.compare.failure_bundles import FailureBundles
from dl_optools.compare.judging import judge
from dl_optools.compare.overhead_budget import OverheadBudget
from dl_optools.compare.results import COLUMNS, AutoCompareResults, csv_rows
from dl_optools.compare.signature_sampling import DEFAULT_EVERY, Pick, SignatureSampler
from dl_optools.compare.tolerance_options import ComparisonOptions
from dl_optools.compare.waiting_arguments import Allowance
from dl_optools.csv_file import CsvFile
from dl_optools.environment import environment
from dl_optools.failures import notify
from dl_optools.modules import MODULE_PATH
from dl_optools.names import Level
from dl_optools.operators import is_known
from dl_optools.options import CALLS, OPERATORS, ROWS, at_least, read
from dl_optools.outputs import results_directory, run_stamp, unused_path
from dl_optools.sampling import SampledTool
from dl_optools.tensors import tensors_of
from dl_optools.tool import ToolOptions

OnCall = Callable[[CheckedCall, CallComparison], None]

GIGABYTE = 1 << 30
DEFAULT_BUNDLES = 16
DEFAULT_BUDGET = 15.0
EXTRA_SHARE = 0.03
"""Share of the program's time for additional comparisons."""
_OWN_DATA = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)


class OpAutoCompare(SampledTool):
    """Compares the results of operators on the device with the CPU's float64.

    At the dispatcher's level, the default, every overload of forward and backward is one operator,
    including its in-place writes. At the level of the Python interface it is a function, including
    the gradients of all its inputs. The program's thread only copies arguments and results;
    references run in background threads.

    Views, random operators, and uninitialised memory are not compared.

    In programs with steps (see :mod:`dl_optools.steps`) the tool skips as many of them as its
    budget requires; the first one is always checked.

    :param every: 1: all calls. n: the first call of each signature (operator, shapes, strides,
        dtypes, flags), then every n-th one, and some with values of a new kind in between. None:
        the variable ``AUTOCOMPARE_EVERY``, else 100.
    :param budget: percent of the program's time that checking may take, or ``"off"`` to check all
        steps. None: the variable ``OP_AUTOCOMPARE_BUDGET``, else 15, or ``"off"`` with ``every=1``.
    :param threads: number of references computed concurrently; None: half of the processors.
    :param places: maximum number of calls that wait to be judged.
    :param memory: maximum bytes that waiting calls hold, and also of arguments that wait for their
        function's backward. First calls of a signature, and all calls with ``every=1``, wait until
        memory is free; other calls are dropped and counted.
    :param clock: monotonic clock in seconds.
    :param on_failure: called for each wrong call, in a thread of the tool.
    :param on_result: called for each compared call, in a thread of the tool.
    :param attribute: determine the module and the Python function of overloads, at a small cost
        for every function that is called.
    :param stream: receives the report when the tool stops, and the first failure of an operator
        at once; None: no output. :attr:`results` has everything.
    :param csv: write a table of all comparisons into the directory of results.
    :param bundles: maximum number of operators whose first wrong call is written as a bundle, for
        ``dl replay --check``; 0: none. None: the variable ``AUTOCOMPARE_BUNDLES``, else 16.
        ``OP_CAPTURE_DISK`` limits their size.
    :param options: options of :class:`Tool`.
    :raises OptionError: a variable has an invalid value.
    """

    variable = "AUTOCOMPARE"
    default_level = Level.DISPATCH
    observes = True

    def __init__(
        self,
        *,
        every: int | None = None,
        budget: float | str | None = None,
        threads: int | None = None,
        places: int = 64,
        memory: int = GIGABYTE,
        on_failure: OnCall | None = None,
        on_result: OnCall | None = None,
        attribute: bool = True,
        stream: IO[str] | None = sys.stderr,
        csv: bool = True,
        bundles: int | None = None,
        clock: Clock = time.perf_counter,
        **options: Unpack[ToolOptions],
    ) -> None:
        environ = environment()
        if every is None:
            every = read(environ, "AUTOCOMPARE_EVERY", at_least(1), DEFAULT_EVERY, CALLS)
        # If every call is requested, no step is skipped.
        self.default_budget = None if every == 1 else DEFAULT_BUDGET
        super().__init__(every=1, budget=budget, clock=clock, **options)
        if bundles is None:
            bundles = read(environ, "AUTOCOMPARE_BUNDLES", at_least(0), DEFAULT_BUNDLES, OPERATORS)
        self.bundles = bundles
        self._limits = limits_of(environ)
        self.sampler = SignatureSampler(every)
        self.options = ComparisonOptions(environ)
        self.threads = threads or max(1, (os.cpu_count() or 1) // 2)
        self.places = places
        self.memory = memory
        self.on_failure = on_failure
        self.on_result = on_result
        self.attribute = attribute
        self.stream = stream
        self.csv = csv
        self.batch = read(environ, "OP_TOOLS_MAX_CACHE_SIZE", at_least(1), 100, ROWS)
        self.results = AutoCompareResults()
        self._known_names: dict[tuple[str, str], bool] = {}

    # Lifetime

    def opened(self) -> None:
        self.results = AutoCompareResults(self.device or "")
        self._file = None
        if self.csv:
            name = f"op_autocompare_info_{run_stamp()}.csv"
            path = unused_path(results_directory("op_autocompare_result") / name)
            self._file = CsvFile(path, COLUMNS, self.batch)
        self._background: Background[CheckedCall] = Background(
            self._judge, threads=self.threads, places=self.places, memory=self.memory
        )
        bounded = self.budget.percent is not None
        self._extra_budget = (
            OverheadBudget(EXTRA_SHARE, self._background.idle, self._clock) if bounded else None
        )
        self.sampler = SignatureSampler(self.sampler.every, self._extra_budget)
        assert self.device is not None
        self._checks = CallChecks(
            self.device,
            self._background,
            self.results,
            Allowance(self.memory),
            patient=self.sampler.every == 1,
            recorded=self.bundles > 0,
        )
        self._bundles = FailureBundles(self.bundles, self.device, self._limits)
        MODULE_PATH.open()
        wanted = self.attribute and self.level is Level.DISPATCH
        self._attribution = Attribution() if wanted else None

    def enter(self) -> None:
        if self._attribution is not None:
            levels.add(self._attribution, Level.API)
        super().enter()

    def leave(self) -> None:
        super().leave()
        if self._attribution is not None:
            levels.remove(self._attribution, Level.API)

    def closed(self) -> None:
        spending = self.budget.spending()
        super().closed()
        MODULE_PATH.close()
        self._checks.detach()
        self._background.close()
        self.losses += self._bundles.close()
        self.results.signatures = self.sampler.signatures
        self.results.picks = {each.value: n for each, n in self.sampler.picks.items()}
        self.results.spending = spending
        if self._file is not None:
            self._file.close()
            self.losses += self._file.losses
        self._write_report()
        if self.stream is not None and not self.reports:
            self.stream.write(self.results.text())

    def report(self) -> dict[str, Any]:
        return {**self.results.as_json(), "text": self.results.text()}

    def _write_report(self) -> None:
        """Write the HTML page next to the table of all comparisons."""
        if not self.csv or not self.results.checked:
            return
        name = f"op_autocompare_report_{run_stamp()}.html"
        path = unused_path(results_directory("op_autocompare_result") / name)
        with self.writing(path):
            path.write_text(compare_page([("", self.results.as_json())]), encoding="utf-8")

    # Selection of calls

    def wants(self, name: str, function: Callable[..., Any]) -> bool:
        if isinstance(function, torch._ops.OpOverload):
            # Lists may name the Python function around the overload.
            return is_known(name, Level.DISPATCH) and may_compute(function)
        if self.level is Level.DISPATCH:
            return False
        return name in self.selection and (
            is_known(name, Level.API) or not name.startswith("torch.")
        )

    def _is_selected(self, call: OpCall) -> bool:
        names = (call.name, "" if call.parent is None else call.parent.name)
        known = self._known_names.get(names)
        if known is None:
            known = self._known_names[names] = self.selection.matches(*filter(None, names))
        return known

    # One call

    def handle(self, call: OpCall) -> Any:
        if not self.measuring:
            return call.proceed()
        overload = call.level is Level.DISPATCH
        if overload and (
            not self._is_selected(call) or draws(_overload(call), call.args, call.kwargs)
        ):
            return call.proceed()
        self.results.calls += 1
        self.results.seen[call.name] += 1
        pick = self.sampler.pick(call)
        if pick is Pick.SKIP:
            return call.proceed()
        tensors = tensors_of(call.args, call.kwargs)
        if any(type(x) not in _OWN_DATA for x in tensors):
            self.results.count_not_comparable(call.name, "a subclass of torch.Tensor")
            return call.proceed()
        size = 2 * sum(x.numel() * x.itemsize for x in tensors) + 1024
        if not self._background.reserve(size, wait=pick is Pick.NEW):
            self.results.count_dropped(call.name)
            return call.proceed()
        submitted = False
        begun = self._clock()
        try:
            if overload:
                result, checked = self._checks.overload(call, tensors, first=pick is Pick.NEW)
            else:
                result, checked = self._checks.function(call, tensors, size)
            checked.extra = pick is not Pick.NEW
            self._background.submit(checked, size)
            submitted = True
        finally:
            if not submitted:
                self._background.release(size)
        if self._extra_budget is not None and checked.extra:
            self._extra_budget.spend(self._clock() - begun)
        return result

    def _judge(self, checked: CheckedCall) -> None:
        """Judge a call; runs in a thread of the tool."""
        begun = time.thread_time()
        found = judge(checked, self.options)
        if self._extra_budget is not None and checked.extra:
            self._extra_budget.spend(time.thread_time() - begun)
        first = self.results.add(found)
        if self._file is not None:
            self._file.add(csv_rows(found))
        if not found.ok:
            if first:
                self._write_bundle(checked)
            if first and self.stream is not None:
                self.stream.write(self.results.describe(found) + "\n")
            self._notify("on_failure", self.on_failure, checked, found)
        if not found.reason:
            self._notify("on_result", self.on_result, checked, found)

    def _write_bundle(self, checked: CheckedCall) -> None:
        try:
            path = self._bundles.write(checked)
        except Exception as error:  # noqa: BLE001 - the result counts, with or without a bundle
            self.results.no_bundle[checked.name] = str(error) or type(error).__name__
        else:
            if path is not None:
                self.results.bundles[checked.name] = path

    def _notify(
        self, option: str, listener: OnCall | None, checked: CheckedCall, found: CallComparison
    ) -> None:
        if reason := notify(option, listener, checked, found):
            self.results.count_not_comparable(checked.name, reason)


def _overload(call: OpCall) -> Overload[Any, Any]:
    return cast("Overload[Any, Any]", call.function)
