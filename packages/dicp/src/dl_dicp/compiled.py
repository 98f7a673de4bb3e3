"""FX graph that runs as contract graphs: one for all sizes, or one for each argument layout."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule

from dl_core import _C
from dl_dicp.errors import FixedSizesError, NotCompiledError, OwnCaseError, RefusedCallError
from dl_dicp.options import Options
from dl_dicp.patterns import registry as patterns
from dl_dicp.patterns.rewrite import rewrite
from dl_dicp.program.agreement import (
    check,
    copy_written,
    find_written_arguments,
    overlapping,
    replica,
)
from dl_dicp.program.compiled_program import Program
from dl_dicp.program.frozen import FrozenWeights
from dl_dicp.recording.generators import generators_as_they_are
from dl_dicp.recording.memory import is_plain
from dl_dicp.recording.recorder import Recorder
from dl_dicp.recording.scalars import is_nested_int, is_number, numbers_of, value_text
from dl_dicp.recording.shapes import shapes_of
from dl_dicp.recording.symbols import Layout
from dl_dicp.recording.trace import Trace
from dl_dicp.recording.unread import passed_arguments, unread_arguments
from dl_dicp.retention import keep
from dl_dicp.sizes.all_sizes import FirstCall, for_all_sizes
from dl_dicp.statistics import statistics
from dl_dicp.variant import Variant, look_of, look_of_passed

SHARED = "arguments that share memory are written to"
NESTED = "it reads or returns a nested int, the length of a jagged dimension, which has no value"


all_graphs: weakref.WeakSet[CompiledGraph] = weakref.WeakSet()
"""Compiled graphs of this process, for reports."""


_numbers = itertools.count()


@dataclass(eq=False)
class CompiledGraph:
    """Callable that AOTAutograd gets for a graph; it takes a list of arguments.

    The first call runs eagerly and is recorded. Later calls run the program. A program serves all
    sizes if the sizes of the graph can vary, and one argument layout otherwise.

    :ivar remarks: additional lines for reports.
    """

    module: GraphModule
    kind: str
    options: Options = field(default_factory=Options)
    variants: list[Variant] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    _boxed_call: bool = True

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._written = find_written_arguments(self.module)
        self._fixed = ""
        self._freezes = self.options.frozen and self.kind == "inference"
        self._frozen: FrozenWeights | None = None
        # Arguments that programs do not depend on: unread ones, and those that have changed
        # between calls.
        self._unread = frozenset(unread_arguments(self.module))
        self._varying = set(self._unread)
        self._passed = passed_arguments(self.module)
        self.number = next(_numbers)
        all_graphs.add(self)
        keep(self)

    def __call__(self, arguments: list[Any]) -> Any:
        """Return the results as a list.

        :raises RuntimeError: an operator failed; the message names it.
        """
        for variant in self.variants:
            sizes = variant.serves(arguments)
            if sizes is None:
                continue
            if variant.program is None:
                return self._eagerly(arguments, variant.reason)
            if variant.tried in (None, sizes):
                try:
                    if self._freezes:
                        return self._run_frozen(variant.program, arguments, sizes)
                    return variant.program.run(arguments, sizes)
                except RuntimeError as error:
                    if not sizes or self._written:
                        raise
                    return self._instead(variant, arguments, error)
            return self._again(variant, arguments, sizes)
        with self._lock:
            if all(variant.serves(arguments) is None for variant in self.variants):
                return self._first(arguments)
        return self(arguments)

    def _run_frozen(self, program: Program, arguments: list[Any], sizes: tuple[int, ...]) -> Any:
        with self._lock:
            if self._frozen is None:
                device = next(a.device for a in arguments if is_dl(a))
                self._frozen = FrozenWeights(device, arguments, self._written or set())
        with self._frozen.used(arguments):
            return program.run(arguments, sizes)

    def _again(self, variant: Variant, arguments: list[Any], sizes: tuple[int, ...]) -> Any:
        """Check a program in its first call at sizes other than the recorded ones, against an eager
        run."""
        device = next(a.device for a in arguments if is_dl(a))
        written = self._written or set()
        if written and overlapping(arguments, device):
            return self._eagerly(arguments, SHARED)
        with self._lock, torch.no_grad():
            before = self._before(arguments, device)
            with generators_as_they_are(device) as rewind:
                results = list(self.module(*arguments))
                if variant.program is not None and before is not None:
                    rewind()
                    try:
                        check(variant.program, before, [*results, *arguments], sizes)
                    except NotCompiledError as reason:
                        self._drop(variant, str(reason))
            variant.tried = None
        return results

    def _instead(self, variant: Variant, arguments: list[Any], error: RuntimeError) -> Any:
        """Run eagerly after a program for all sizes has failed without writing anything.

        If the arguments were invalid, the eager run raises the error; otherwise the program was
        wrong."""
        results = self._eagerly(arguments, f"a program failed: {error}")
        self._drop(variant, str(error))
        return results

    def _drop(self, variant: Variant, reason: str) -> None:
        """Use a separate program for each layout from now on."""
        with self._lock:
            self._fixed = reason
            self.variants = [each for each in self.variants if each is not variant]

    def _eagerly(self, arguments: list[Any], reason: str) -> Any:
        statistics.count_eager(reason)
        with torch.no_grad():
            return list(self.module(*arguments))

    def _first(self, arguments: list[Any]) -> Any:
        """Handle a call with a new layout."""
        self._forget_scalars(arguments)
        for variant in list(self.variants):
            if why := variant.broken(arguments):
                self._drop(variant, why)
        if len(self.variants) >= self.options.limit:
            return self._eagerly(arguments, f"more than {self.options.limit} layouts of arguments")
        device = next((a.device for a in arguments if is_dl(a)), None)
        if device is None:
            return self._eagerly(arguments, "no argument is a dl tensor")
        if any(node.op in ("call_module", "call_method") for node in self.module.graph.nodes):
            return self._eagerly(arguments, "it is not a graph of functions")
        if self._written is None:
            return self._eagerly(arguments, "it mutates a tensor that is not a graph input")
        if any(is_nested_int(a) for i, a in enumerate(arguments) if i not in self._unread):
            return self._eagerly(arguments, NESTED)
        shared = overlapping(arguments, device)
        if shared and self._written:
            return self._eagerly(arguments, SHARED)
        with torch.no_grad():
            apart = [replica(a) if i in shared else a for i, a in enumerate(arguments)]
            return self._compile(apart, device)

    def _forget_scalars(self, arguments: list[Any]) -> None:
        """From now on, read scalars that differ from a program's constants in each call."""
        given = [item for variant in self.variants for item in variant.numbers.items()]
        self._varying |= {i for i, x in given if value_text(arguments[i]) != x}
        self.variants = [v for v in self.variants if not self._varying & v.numbers.keys()]

    def _compile(self, arguments: list[Any], device: torch.device) -> Any:
        before = self._before(arguments, device)
        with generators_as_they_are(device) as rewind:
            numbers = numbers_of(arguments, self._varying | (self._written or set()))
            results, trace = Recorder(self.module, device, numbers).run(arguments)
            statistics.count(recorded=1)
            results = list(results)
            if isinstance(trace, NotCompiledError):
                variant = self._variant(arguments, device, numbers)
                variant.reason = str(trace)
            else:
                wanted = [*results, *arguments]
                call = FirstCall(trace, arguments, before, wanted, rewind, numbers)
                try:
                    variant = self._create_variant(call)
                except RefusedCallError:
                    return results  # the next call records the graph again
                if variant.program is not None:
                    variant.program.engine.begin(self.options.check)
        self.variants.append(variant)
        return results

    def _create_variant(self, call: FirstCall) -> Variant:
        """Return a variant for all sizes, or for one layout if that is not possible."""
        fixed = self._fixed
        if not fixed:
            try:
                made = self._for_all_sizes(call)
                if made is not None:
                    return made
            except OwnCaseError as reason:
                fixed = str(reason)
            except FixedSizesError as reason:
                fixed = self._fixed = str(reason)
        variant = self._variant(call.arguments, call.trace.device, call.numbers)
        if fixed:
            variant.fixed = fixed
            statistics.count_fixed(fixed)
        try:
            self._for_one_layout(call, variant)
            statistics.count(compiled=1)
        except RefusedCallError:
            self._fixed = ""
            raise
        except NotCompiledError as reason:
            variant.reason = str(reason)
        return variant

    def _for_all_sizes(self, call: FirstCall) -> Variant | None:
        """Return a variant for all sizes, or None if no size varies.

        :raises FixedSizesError: no program can serve all sizes; :class:`OwnCaseError`: only these
            sizes need a separate program.
        """
        device = call.trace.device
        passed = {i for i in self._passed if is_passed(call.arguments[i], device)}
        shapes = shapes_of(self.module, passed=passed)
        if shapes is None:
            return None
        written = self._written or set()
        chosen = patterns.chosen(self.options.patterns)
        made = for_all_sizes(self.module, shapes, call, written, self.options.engine, chosen)
        statistics.count(compiled=1)
        variant = self._variant(call.arguments, device, call.numbers)
        variant.guard = made.guard(call.arguments, device)
        variant.shapes = [
            each.sizes if isinstance(each, Layout) else value if each is None else each
            for each, value in zip(shapes.arguments, call.arguments, strict=True)
        ]
        variant.program = made.program
        variant.rewriting = made.rewriting
        statistics.count_patterns(made.rewriting.fired, made.rewriting.declined)
        variant.broken = lambda arguments: made.broken(arguments, device)
        variant.tried = made.first if self.options.check else None
        return variant

    def _for_one_layout(self, call: FirstCall, variant: Variant) -> None:
        """Give a variant a program that agrees with the eager run, with patterns if possible.

        :raises NotCompiledError: no program agrees.
        """
        written = self._written or set()
        call.trace.fold()

        def checked(trace: Trace, *, last: bool) -> Program:
            program = Program(trace, written, self.options.engine)
            if call.before is not None:
                before = call.before
                if not last:  # the next program is tried
                    before = copy_written(before, written, trace.device)
                call.rewind()
                check(program, list(before), call.wanted)
            return program

        done = rewrite(call.trace, patterns.chosen(self.options.patterns))
        if done.fired:
            try:
                variant.program = checked(done.trace, last=False)
            except NotCompiledError as reason:
                done.give_up(str(reason))
        if variant.program is None:
            variant.program = checked(call.trace, last=True)
        variant.rewriting = done
        statistics.count_patterns(done.fired, done.declined)

    def _before(self, arguments: list[Any], device: torch.device) -> list[Any] | None:
        """Return a copy of the arguments for the check, or None if checks are disabled."""
        if not self.options.check:
            return None
        return copy_written(arguments, self._written or set(), device)

    def _variant(
        self, arguments: Sequence[Any], device: torch.device, numbers: dict[int, str]
    ) -> Variant:
        wanted: list[Any] = []
        others: dict[int, Any] = {}
        passed: dict[int, Any] = {}
        for place, value in enumerate(arguments):
            if is_plain(value, device):
                layout = (value.dtype, tuple(value.shape), tuple(value.stride()))
                wanted.append((*layout, value.storage_offset()))
            elif isinstance(value, int) and not isinstance(value, bool):
                wanted.append(int(value))
            else:
                wanted.append(None)
                if place in self._passed and is_passed(value, device):
                    passed[place] = look_of_passed(value)
                else:
                    others[place] = look_of(value)
        shapes = [tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in arguments]
        guard = _C.ArgumentGuard(device.index, wanted)
        return Variant(guard, others, shapes, numbers, passed=passed)


def is_passed(value: Any, device: torch.device) -> bool:
    """Return True if an argument that no operator reads may differ between calls of a program.

    Jagged tensors have such arguments: lengths, and tensors whose sizes are lengths.
    """
    tensor = isinstance(value, torch.Tensor) and not is_plain(value, device)
    return is_nested_int(value) or (tensor and not is_number(value))


def is_dl(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "dl"
