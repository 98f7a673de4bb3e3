"""One program for all sizes of a graph, derived from a second record at other sizes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule

from dl_core import _C
from dl_dicp.errors import FixedSizesError, NotCompiledError, OwnCaseError
from dl_dicp.patterns.pattern import Pattern
from dl_dicp.patterns.rewrite import Rewriting, rewrite
from dl_dicp.program.agreement import check, copy_written
from dl_dicp.program.compiled_program import ANY_OFFSET, Program
from dl_dicp.program.document import Scope
from dl_dicp.program.packing import packed, packed_json
from dl_dicp.recording.generators import generators_as_they_are, generators_kept
from dl_dicp.recording.memory import TORCH_DTYPES, Ref, is_plain
from dl_dicp.recording.recorder import Recorder
from dl_dicp.recording.shapes import Shapes, Sizes, holds
from dl_dicp.recording.symbols import MOST
from dl_dicp.recording.trace import Host, Opaque, Trace, refs_in
from dl_dicp.sizes.claims import claims_of
from dl_dicp.sizes.samples import arguments_at, other_sizes
from dl_dicp.sizes.unify import unify
from dl_dicp.statistics import statistics
from dl_graph.expression import Json, text

CAPS = (MOST, 1 << 16, 1 << 13, 1 << 10)
"""Maximum sizes to try, in order: products of several symbols may overflow 64 bits, and for large
sizes conservative bounds may suggest that tensors share memory."""


@dataclass
class Sized:
    """Program with the sizes that it serves.

    :ivar trace: the unified record from which it was built.
    :ivar first: the sizes of the first record.
    :ivar rewriting: result of the patterns.
    :ivar claims: guards of the scope that are not guards of the graph: see :mod:`.claims`.
    """

    trace: Trace
    program: Program
    scope: Scope
    shapes: Shapes
    first: tuple[int, ...]
    claims: list[Json]
    rewriting: Rewriting

    def broken(self, arguments: Sequence[Any], device: torch.device) -> str:
        """Return the claim that does not hold for the sizes of a call; empty if all hold."""
        if not self.claims:
            return ""
        try:
            sizes = self.shapes.sizes_of(arguments, device)
        except OwnCaseError:
            return ""
        wrong = next((claim for claim in self.claims if not holds(claim, sizes)), None)
        if wrong is None:
            return ""
        _, made, said = wrong
        return f"the size {text(made)} was assumed to be {text(said)}, which is wrong at {sizes}"

    def guard(self, arguments: Sequence[Any], device: torch.device) -> Any:
        """Return the guard on the arguments, with None for arguments that other checks cover."""
        names = list(self.scope.ranges)
        wanted = [
            _wanted(layout, value, names, device)
            for layout, value in zip(self.shapes.arguments, arguments, strict=True)
        ]
        symbols = [(s.place, s.dimension, *self.scope.ranges[s.name]) for s in self.shapes.symbols]
        relations = [
            (sign, packed_json(a, names), packed_json(b, names)) for sign, a, b in self.scope.guards
        ]
        return _C.ArgumentGuard(device.index, wanted, symbols, relations)


def _wanted(layout: Any, value: Any, names: Sequence[str], device: torch.device) -> Any:
    if is_plain(value, device):
        sizes = [packed(size, names) for size in layout.sizes]
        strides = [packed(stride, names) for stride in layout.strides]
        return value.dtype, sizes, strides, ANY_OFFSET
    number = isinstance(value, int) and not isinstance(value, bool)
    return packed(layout, names) if number else None


@dataclass
class FirstCall:
    """Call in which a graph was recorded.

    :ivar before: the arguments before the call, which must not be written; None if programs are
        not checked.
    :ivar wanted: the results, followed by the arguments after the call.
    :ivar numbers: host scalars that are the same in each run, by argument index.
    :ivar rewind: function that resets the generators to their state before the call.
    """

    trace: Trace
    arguments: Sequence[Any]
    before: Sequence[Any] | None
    wanted: Sequence[Any]
    rewind: Callable[[], None]
    numbers: dict[int, str]


def for_all_sizes(
    module: GraphModule,
    shapes: Shapes,
    call: FirstCall,
    written: set[int],
    engine: str,
    patterns: Sequence[Pattern] = (),
) -> Sized:
    """Record the graph at other sizes and build a program from both records, with patterns if the
    results then agree.

    :raises FixedSizesError: the records are not the same graph, or the program's results differ.
    """
    device = call.trace.device
    _check_that_it_only_computes(module)
    _check_that_no_host_call_trusts_integers(call)
    try:
        first = shapes.sizes_of(call.arguments, device)
        second, fit = other_sizes(shapes, first)
        arguments = arguments_at(shapes, second, call.arguments, device, written)
        before = None if call.before is None else copy_written(arguments, written, device)
        with generators_kept(device), generators_as_they_are(device) as rewind:
            results, trace = _run(module, arguments, device, call.numbers)
            whole = unify(call.trace, trace, fit)
            runs = first, second
            claims = claims_of(whole, shapes, runs)
            whole.fold()
            program, scope = _program(whole, shapes, claims, runs, written, engine)
            done = rewrite(whole, patterns, scope, runs)
            here, there = (tuple(run[name] for name in scope.ranges) for run in runs)
            tried = [*_with_patterns(done, scope, first, written, engine), program]
            if before is not None:
                wanted = [*results, *arguments]
                tried = _agreeing(tried, before, wanted, there, written, rewind, done)
        if call.before is not None:
            tried = _agreeing(tried, call.before, call.wanted, here, written, call.rewind, done)
    except NotCompiledError as error:
        raise FixedSizesError(str(error)) from error
    except ZeroDivisionError as error:
        raise FixedSizesError(f"an expression of sizes divides by zero: {error}") from error
    if not done.fired:
        done.assumed.clear()
    return Sized(whole, tried[0], tried[0].scope, shapes, here, claims, done)


def _with_patterns(
    done: Rewriting, scope: Scope, example: Sizes, written: set[int], engine: str
) -> Iterator[Program]:
    if done.fired:
        try:
            scope = Scope(scope.ranges, [*scope.guards, *done.assumed])
            yield Program(done.trace, written, engine, scope, example)
        except NotCompiledError as reason:
            done.give_up(str(reason))


def _agreeing(
    programs: Sequence[Program],
    before: Sequence[Any],
    wanted: Sequence[Any],
    sizes: tuple[int, ...],
    written: set[int],
    rewind: Callable[[], None],
    done: Rewriting,
) -> list[Program]:
    """Return a program that agrees with the eager run, with patterns if possible.

    :raises NotCompiledError: no program agrees.
    """
    out = []
    for program in programs:
        rewind()
        try:
            check(program, copy_written(before, written, program.device), wanted, sizes)
            out.append(program)
        except NotCompiledError as reason:
            if program is programs[-1]:
                raise
            done.give_up(str(reason))
    return out


def _check_that_it_only_computes(module: GraphModule) -> None:
    """Reject operators with side effects other than on tensors: the user did not ask for the second
    call.
    """
    for node in module.graph.nodes:
        namespace = getattr(node.target, "namespace", "aten")
        if node.op == "call_function" and namespace not in ("aten", "prims"):
            raise FixedSizesError(f"{node.target} may have side effects")


def _check_that_no_host_call_trusts_integers(call: FirstCall) -> None:
    """Reject host calls with integers: synthetic integers are valid indices but not valid lengths.
    Vendors check them; CPU operators may access memory out of bounds."""
    for step in call.trace.steps:
        for each in refs_in((step.args, step.kwargs)) if isinstance(step, Host) else ():
            if _dtype_of(each, call.arguments).startswith(("int", "uint")):
                raise FixedSizesError(f"{step.name} reads integers on the host without checks")


def _dtype_of(value: Ref | Opaque, arguments: Sequence[Any]) -> str:
    """Return the dtype; empty for a result that is neither a device tensor nor an argument."""
    if isinstance(value, Ref):
        return value.dtype
    given = arguments[value.slot] if 0 <= value.slot < len(arguments) else None
    return TORCH_DTYPES.get(given.dtype, "") if isinstance(given, torch.Tensor) else ""


def _run(
    module: GraphModule,
    arguments: Sequence[Any],
    device: torch.device,
    numbers: Collection[int],
) -> tuple[list[Any], Trace]:
    try:
        results, trace = Recorder(module, device, numbers, made_up=True).run(arguments)
    except Exception as error:  # the run has synthetic arguments; the caller has correct results
        raise FixedSizesError(f"it failed at other sizes: {error}") from error
    statistics.count(recorded=1)
    if isinstance(trace, NotCompiledError):
        raise trace
    return list(results), trace


def _program(
    whole: Trace,
    shapes: Shapes,
    claims: Sequence[Json],
    runs: Sequence[dict[str, int]],
    written: set[int],
    engine: str,
) -> tuple[Program, Scope]:
    refused = FixedSizesError("its sizes are too large")
    for cap in CAPS:
        ranges = {s.name: (s.least, min(s.most, cap)) for s in shapes.symbols}
        if any(run[name] > most for run in runs for name, (_, most) in ranges.items()):
            break
        scope = Scope(ranges, [*shapes.guards, *claims])
        try:
            return Program(whole, written, engine, scope, runs[0]), scope
        except NotCompiledError as error:
            refused = FixedSizesError(str(error))
    raise refused
