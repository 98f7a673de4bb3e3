"""Tool that counts the operators of a program by signature, or lists them call by call."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from typing_extensions import Unpack

from dl_core.tables import table
from dl_optools.arguments import (
    Argument,
    Facts,
    describe_arguments,
    facts_of,
    facts_of_result,
    named_facts,
)
from dl_optools.budget import Spending
from dl_optools.call import OpCall
from dl_optools.environment import environment
from dl_optools.options import flag, read
from dl_optools.outputs import results_directory, run_stamp, unused_path
from dl_optools.sampling import SampledOptions, SampledTool
from dl_optools.stacks import Frame, program_stack

_COLUMNS = (
    "name",
    "signature",
    "calls",
    "place",
    "shape",
    "dtype",
    "device",
    "strides",
    "requires_grad",
    "value",
)
_SHOWN = 40


@dataclass(slots=True)
class Observed:
    """One signature of one operator.

    :ivar calls: number of calls with this signature, including those that raised an error.
    :ivar stack: stack of the program at the first of these calls, if stacks were requested.
    """

    name: str
    calls: int
    _args: Facts
    _kwargs: Facts
    _result: Facts | None = None
    stack: tuple[Frame, ...] = ()

    @property
    def inputs(self) -> list[Argument]:
        """Return its arguments."""
        return describe_arguments(self._args, self._kwargs)

    @property
    def outputs(self) -> list[Argument]:
        """Return the result of the first call with this signature; empty if it raised an error."""
        return [] if self._result is None else describe_arguments(self._result, prefix="result")


@dataclass
class Observations:
    """Results of :class:`OpObserve`.

    :ivar signatures: in the order of their first calls.
    :ivar order: the signature of each call, as an index into ``signatures``, if every call was
        requested.
    :ivar left_out: calls whose signature, or whose position in the order, is beyond the limit.
    """

    signatures: list[Observed] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    left_out: int = 0
    spending: Spending | None = None

    @property
    def calls(self) -> int:
        """Number of recorded calls, without calls that were left out."""
        return sum(observed.calls for observed in self.signatures)

    def table(self, rows: int = _SHOWN) -> str:
        """Format the most frequent signatures as text."""
        ranked = sorted(self.signatures, key=lambda observed: -observed.calls)
        lines = [
            (
                observed.name,
                str(observed.calls),
                ", ".join(_brief(x) for x in observed.inputs),
                ", ".join(map(str, observed.outputs)),
            )
            for observed in ranked[:rows]
        ]
        text = table(("operator", "calls", "arguments", "results"), lines)
        for observed in ranked[:rows]:
            if observed.stack:
                text += f"\n{observed.name}" + "".join(f"\n  at {x}" for x in observed.stack)
        if len(ranked) > rows:
            text += f"\n... and {len(ranked) - rows} more signatures"
        return text

    def write_csv(self, path: Path) -> None:
        """Write a line for each argument and result of each signature, or of each call."""
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if self.order:
                writer.writerow(("call", *_COLUMNS))
                for number, at in enumerate(self.order):
                    for line in _lines(self.signatures[at], at):
                        writer.writerow((number, *line))
            else:
                writer.writerow(_COLUMNS)
                for at, observed in enumerate(self.signatures):
                    writer.writerows(_lines(observed, at))


def _brief(argument: Argument) -> str:
    return str(argument) if "[" in argument.place else f"{argument.place}={argument}"


def _lines(observed: Observed, at: int) -> Iterator[tuple[Any, ...]]:
    for argument in (*observed.inputs, *observed.outputs):
        is_tensor = argument.shape is not None
        yield (
            observed.name,
            at,
            observed.calls,
            argument.place,
            "" if argument.shape is None else list(argument.shape),
            argument.dtype,
            argument.device,
            "" if argument.strides is None else list(argument.strides),
            argument.requires_grad if is_tensor else "",
            argument.value,
        )


class OpObserve(SampledTool):
    """Counts calls by signature: shapes, dtypes, devices, strides, and requires_grad.

    At its end it writes ``op_tools_results/op_observe_result/op_observe_info_<run>.csv`` and shows
    the most frequent signatures. Variables: ``OP_OBSERVE_LIST``, ``OP_OBSERVE_DISABLE_LIST``,
    ``OP_OBSERVE_EVERY`` and ``OP_OBSERVE_BUDGET`` (see :class:`SampledTool`), and
    ``OP_TOOLS_PRINT_STACK`` (1: show the program's stack at the first call of each signature).

    :param each_call: also record the order of calls.
    :param limit: maximum number of signatures, and of calls in order; further ones are counted as
        left out.
    :param directory: output directory (default: as above).
    :param stream: receives the table; None: stderr.
    :param options: options of :class:`SampledTool`.
    """

    variable = "OBSERVE"
    observes = True

    def __init__(
        self,
        *,
        each_call: bool = False,
        limit: int = 100_000,
        directory: Path | str | None = None,
        stream: TextIO | None = None,
        **options: Unpack[SampledOptions],
    ) -> None:
        super().__init__(**options)
        self.each_call = each_call
        self._stacks = read(environment(), "OP_TOOLS_PRINT_STACK", flag, False, "0, 1")
        self._limit = limit
        self._directory = None if directory is None else Path(directory)
        self._stream = stream
        self.results = Observations()
        self._known: dict[Facts, Observed] = {}
        self._places: dict[int, int] = {}

    def opened(self) -> None:
        self.results = Observations()
        self._known = {}
        self._places = {}
        directory = results_directory("op_observe_result", self._directory)
        self._path = unused_path(directory / f"op_observe_info_{run_stamp()}.csv")

    def handle(self, call: OpCall) -> Any:
        if not self.measuring:
            return call.proceed()
        named = named_facts(call.kwargs) if call.kwargs else ()
        facts = (call.name, facts_of(call.args), named)
        observed = self._known.get(facts)
        if observed is None:
            return self._first(call, facts)
        observed.calls += 1
        if self.each_call:
            self._note(observed)
        return call.proceed()

    def _first(self, call: OpCall, facts: Facts) -> Any:
        results = self.results
        if len(results.signatures) >= self._limit:
            results.left_out += 1
            return call.proceed()
        observed = Observed(call.name, 1, facts[1], facts[2])
        if self._stacks:
            observed.stack = program_stack()
        self._known[facts] = observed
        self._places[id(observed)] = len(results.signatures)
        results.signatures.append(observed)
        if self.each_call:
            self._note(observed)
        result = call.proceed()
        observed._result = facts_of_result(result)
        return result

    def _note(self, observed: Observed) -> None:
        if len(self.results.order) < self._limit:
            self.results.order.append(self._places[id(observed)])
        else:
            self.results.left_out += 1

    def closed(self) -> None:
        super().closed()
        results = self.results
        results.spending = self.budget.spending()
        path = self._path
        with self.writing(path):
            results.write_csv(path)
        stream = sys.stderr if self._stream is None else self._stream
        stream.write(results.table() + "\n")
        if results.left_out:
            stream.write(
                f"[OpObserve] {results.left_out} calls left out: more than {self._limit}\n"
            )
        stream.write(f"[OpObserve] {results.calls} calls, {self.describe_destination(path)}\n")
