"""Tool that finds where nan and inf first appear."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import torch
from typing_extensions import Unpack

from dl_optools.backward_graph import Gradients, GradientWatch, Watches
from dl_optools.call import OpCall
from dl_optools.csv_file import CsvFile
from dl_optools.environment import environment
from dl_optools.modules import MODULE_PATH
from dl_optools.names import Level, short_name
from dl_optools.options import ROWS, at_least, read
from dl_optools.outputs import results_directory, run_stamp, unused_path
from dl_optools.overflow.overflow_page import overflow_page
from dl_optools.overflow.results import COLUMNS, Checked, Origin, OverflowResults
from dl_optools.overflow.values import has_values, statistics
from dl_optools.stacks import Frame, program_stack
from dl_optools.tensors import find_written, tensors_of, versions
from dl_optools.tool import Tool, ToolOptions


class OpOverflowCheck(Tool):
    """Examines the values of all inputs, outputs and gradients of operators.

    Reports which tensors hold nan or inf and where, and which operator was the first to produce
    them from finite values, in forward or backward. A growing minimum, maximum or norm is an early
    warning. At the end it shows a line for each operator, and writes one for each tensor to
    ``op_tools_results/op_overflow_check_result/op_overflow_check_info_<run>.csv``. Variables:
    ``OP_OVERFLOW_CHECK_LIST``, ``OP_OVERFLOW_CHECK_DISABLE_LIST``, and ``OP_TOOLS_MAX_CACHE_SIZE``
    for the number of buffered lines.

    :param directory: output directory (default: as above).
    :param stream: receives the table; None: stderr.
    :param options: options of :class:`Tool`.
    :raises OptionError: the variable does not hold a number.
    """

    variable = "OVERFLOW_CHECK"
    observes = True

    def __init__(
        self,
        *,
        directory: Path | str | None = None,
        stream: TextIO | None = None,
        **options: Unpack[ToolOptions],
    ) -> None:
        super().__init__(**options)
        self._directory = None if directory is None else Path(directory)
        self._stream = stream
        self._batch = read(environment(), "OP_TOOLS_MAX_CACHE_SIZE", at_least(1), 1000, ROWS)
        self._watches = Watches()
        self.results = OverflowResults()

    def opened(self) -> None:
        self.results = OverflowResults()
        directory = results_directory("op_overflow_check_result", self._directory)
        path = unused_path(directory / f"op_overflow_check_info_{run_stamp()}.csv")
        self._file = CsvFile(path, COLUMNS, self._batch)
        MODULE_PATH.open()

    def closed(self) -> None:
        MODULE_PATH.close()
        self._watches.detach()
        written = self._file.close()
        self.losses += self._file.losses
        if written:
            page = self._file.path.with_suffix(".html")
            with self.writing(page):
                page.write_text(overflow_page(self.results), encoding="utf-8")
            stream = sys.stderr if self._stream is None else self._stream
            stream.write(f"{self.results.text()}{self.describe_destination(self._file.path)}\n")

    def report(self) -> dict[str, Any]:
        each = self.results.operators.values()
        return {
            "calls": self.results.calls,
            "tensors": sum(x.tensors for x in each),
            "bad": sum(x.bad for x in each),
            "first": "" if self.results.first is None else self.results.first.name,
            "description": "" if self.results.first is None else self.results.first.text(),
            "gradients": list(dict.fromkeys(x.name for x in self.results.origins if x.backward)),
        }

    def handle(self, call: OpCall) -> Any:
        self.results.calls += 1
        call.module = call.module or MODULE_PATH.current()
        given = tensors_of(call.args, call.kwargs)
        before = versions(given)
        # Before the call, which may write to them.
        inputs = self._check(call, "input", given)
        # Backward is computed from the inputs and results of forward.
        saved = [all(x.values.finite for x in inputs)]
        report = partial(self._report, call.number, call.name, call.module, program_stack(), saved)
        watch = GradientWatch(given, report) if self.level is Level.API else None
        result = call.proceed()
        results = tensors_of(result)
        changed = [x for x in find_written(given, before) if not any(x is y for y in results)]
        if watch is not None and watch.attach([*results, *changed]):
            self._watches.add(watch)
        outputs = self._check(call, "output", [*results, *changed])
        saved[0] = saved[0] and all(x.values.finite for x in outputs)
        origin = None
        bad = tuple(x for x in outputs if not x.values.finite)
        if bad and all(x.values.finite for x in inputs) and not _on_purpose(call):
            origin = Origin(
                call.number, call.name, call.module, call.backward, bad, program_stack()
            )
        self._add([*inputs, *outputs], origin)
        return result

    def _check(self, call: OpCall, kind: str, tensors: Sequence[torch.Tensor]) -> list[Checked]:
        return _checked(call.number, call.name, call.module, kind, tensors)

    def _report(
        self,
        number: int,
        name: str,
        module: str,
        stack: tuple[Frame, ...],
        saved: list[bool],
        found: Gradients,
    ) -> None:
        """Check the gradients of one call.

        :param saved: True if all inputs and results of its forward were finite.
        """
        parts: list[list[Checked]] = [
            _checked(number, name, module, kind, gradients)
            for kind, gradients in (("grad_output", found.outputs), ("grad_input", found.inputs))
        ]
        came, sent = parts
        bad = tuple(x for x in sent if not x.values.finite)
        origin = None
        if bad and came and saved[0] and all(x.values.finite for x in came):
            origin = Origin(number, name, module, True, bad, stack)
        self._add([*came, *sent], origin)

    def _add(self, checked: list[Checked], origin: Origin | None) -> None:
        self.results.add(checked, origin)
        self._file.add(one.row() for one in checked)


def _checked(
    number: int, name: str, module: str, kind: str, tensors: Sequence[torch.Tensor | None]
) -> list[Checked]:
    known = [(at, x) for at, x in enumerate(tensors) if x is not None and has_values(x)]
    return [
        Checked(number, name, f"{kind} {at}", values, module)
        for (at, _), values in zip(known, statistics(*(x for _, x in known)), strict=True)
    ]


def _on_purpose(call: OpCall) -> bool:
    """Return True if nan or inf were requested, or the memory is uninitialised."""
    values = (*call.args, *call.kwargs.values())
    if any(isinstance(x, (float, complex)) and not _is_finite(x) for x in values):
        return True
    # `empty`, `new_empty`, `empty_like` and the like leave values undefined.
    return "EMPTY" in short_name(call.name).split("_")


def _is_finite(number: complex) -> bool:
    return math.isfinite(number.real) and math.isfinite(number.imag)
