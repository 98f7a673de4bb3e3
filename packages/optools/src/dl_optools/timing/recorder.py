"""Recorder that times calls as nested spans, forward and backward, step by step."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from torch.autograd.graph import Node

from dl_optools.arguments import facts_of, facts_of_result, named_facts, shapes_in
from dl_optools.backward_graph import (
    next_sequence_number,
    node_metadata,
    nodes_behind,
    nodes_since,
)
from dl_optools.call import OpCall
from dl_optools.failures import notify
from dl_optools.modules import MODULE_PATH
from dl_optools.selection import Selection
from dl_optools.stacks import program_stack
from dl_optools.tensors import tensors_of
from dl_optools.timing.calls import CallsFile
from dl_optools.timing.clocks import Stopwatch
from dl_optools.timing.communication import communicates, when_done
from dl_optools.timing.costs import formula, function_bytes, overload_bytes, overload_flops, version
from dl_optools.timing.spans import Entry, Profile, Span, StepRecord, TimedCall
from dl_optools.timing.trace import Trace, format_stack

_MARK = "dl_optools.time"
_MANY_SPANS = 50_000
_MANY_ENTRIES = 100_000
_FRAMES = 4
"""Maximum depth of the program's stack in a timeline."""


class _Thread(threading.local):
    """Open spans of this thread, in the step with this number."""

    step: int = -1

    def __init__(self) -> None:
        self.stack: list[Span] = []


class Recorder:
    """Records the calls of a step, and sums them up when the device has reached the step's end.

    No tensor is kept: spans store shapes and marks of the stopwatch.

    :param selection: selection of overloads; overloads inside a timed function are timed as well.
    :param trace: receives each step as a timeline; None: no timeline.
    :param memory: returns the bytes of tensors on the device, for the timeline.
    :param on_call: called for each call whose times are complete.
    :ivar recording: if False, calls pass unchanged.
    :ivar listener_errors: what ``on_call`` raised, and how often.
    """

    def __init__(
        self,
        watch: Stopwatch,
        selection: Selection,
        calls: CallsFile,
        trace: Trace | None = None,
        memory: Callable[[], int] | None = None,
        on_call: Callable[[TimedCall], None] | None = None,
    ) -> None:
        self.watch = watch
        self.recording = True
        self.left_out = 0
        self._selection = selection
        self._calls = calls
        self._trace, self._memory = trace, memory
        self._on_call = on_call
        self.listener_errors: Counter[str] = Counter()
        self._cold, self._warm = Profile(), Profile()
        self._record = StepRecord(self._cold, watch.mark())
        self._waiting: deque[StepRecord] = deque()
        self._handles: list[Any] = []
        self._step = 0
        self._chosen: dict[str, tuple[bool, bool]] = {}
        self._thread = _Thread()

    @property
    def profile(self) -> Profile:
        """Profile of the warm steps; of the first step if there is no other."""
        return self._warm if self._warm.steps else self._cold

    @property
    def cold(self) -> bool:
        """True if :attr:`profile` is the profile of the first step."""
        return self._warm.steps == 0

    # Calls

    def function(self, call: OpCall) -> Any:
        """Run and time one call of a function of Python."""
        if not self.recording:
            return call.proceed()
        watch = self.watch
        begun = watch.begin()
        stack = self._stack()
        outer = stack[-1] if stack else None
        entry = self._entry("function", call, outer)
        timed = TimedCall(entry, call.number)
        span = Span(entry, timed, outer)
        if self._trace is not None:
            self._place(span)
        given = tensors_of(call.args, call.kwargs)
        versions = [] if entry.looked else [version(tensor) for tensor in given]
        older = nodes_behind(given)
        number = next_sequence_number()
        stack.append(span)
        span.start = watch.start(begun)
        stopped = 0
        try:
            result = call.proceed()
            span.stop, stopped = watch.stop()
            if not entry.looked:
                entry.looked = True
                entry.moved = function_bytes(call.name, given, versions, result)
            timed.result = facts_of_result(result)
            made = nodes_since(tensors_of(result, given), number, older)
            self._watch_backward(made, timed)
            return result
        finally:
            if span.stop is None:
                span.stop, stopped = watch.stop()
            stack.pop()
            if self._memory is not None and outer is None:
                span.memory = self._memory()
            self._record.spans.append(span)
            self._record.calls.append(timed)
            if len(self._record.spans) > _MANY_SPANS and not stack:
                self._early()
            watch.end(stopped)

    def overload(self, call: OpCall) -> Any:
        """Run and time one call of an overload."""
        stack = self._stack()
        if not self.recording or not self._selected(call.name, bool(stack)):
            return call.proceed()
        watch = self.watch
        begun = watch.begin()
        outer = stack[-1] if stack else None
        entry = self._entry("overload", call, outer)
        span = Span(entry, None, outer)
        if self._trace is not None:
            self._place(span)
        record = self._record
        span.start = watch.start(begun)
        stopped = 0
        try:
            result = call.proceed()
            span.stop, stopped = watch.stop()
            if not entry.looked:
                self._look(entry, call, result)
            if communicates(call.name):
                when_done(result, lambda: setattr(span, "finish", watch.mark()))
            return result
        finally:
            if span.stop is None:
                span.stop, stopped = watch.stop()
            record.spans.append(span)
            watch.end(stopped)

    def _place(self, span: Span) -> None:
        """Set the location of an operator call in the program, for the timeline."""
        span.module = MODULE_PATH.current()
        if span.outer is None:
            span.stack = format_stack(program_stack(_FRAMES))

    def _stack(self) -> list[Span]:
        state = self._thread
        if state.step != self._step:
            # Spans left open by an error in backward end with their step.
            state.step, state.stack = self._step, []
        return state.stack

    def _selected(self, name: str, inside: bool) -> bool:
        chosen = self._chosen.get(name)
        if chosen is None:
            left_out = any(pattern.fullmatch(name) for pattern in self._selection.exclude)
            chosen = self._chosen[name] = (name in self._selection, left_out)
        return chosen[0] or (inside and not chosen[1])

    def _entry(self, level: str, call: OpCall, outer: Span | None) -> Entry:
        profile = self._record.profile
        function = "" if outer is None else outer.entry.row.operator
        facts = facts_of(call.args)
        named = named_facts(call.kwargs) if call.kwargs else ()
        key = (level, call.name, call.backward, function, facts, named)
        entry = profile.entries.get(key)
        if entry is None:
            if len(profile.entries) > _MANY_ENTRIES:
                profile.entries.clear()
            shapes = shapes_in(facts, named)
            row = profile.row(level, call.name, call.backward, function, shapes)
            entry = profile.entries[key] = Entry(row, facts, named)
        return entry

    def _look(self, entry: Entry, call: OpCall, result: Any) -> None:
        entry.looked = True
        overload: Any = call.function
        entry.moved = overload_bytes(overload, call.args, call.kwargs, result)
        if formula(overload) is not None:
            count = overload_flops(overload, call.args, call.kwargs, result)
            dtypes = [x.dtype for x in tensors_of(call.args) if x.is_floating_point()]
            if count and dtypes:
                entry.flops = {str(dtypes[0]).removeprefix("torch."): float(count)}

    # Backward

    def _watch_backward(self, made: list[Node], timed: TimedCall) -> None:
        nodes = [node for node in made if _MARK not in node_metadata(node)]
        if not nodes:
            return
        row = timed.entry.row
        shapes = shapes_in(timed.entry.facts, timed.entry.named)
        profile = self._record.profile
        timed.backward_row = profile.row("function", row.operator, True, "", shapes)
        entry = Entry(timed.backward_row, (), ())
        step = self._step
        for at, node in enumerate(nodes):
            # If functions call each other, the inner one times the node.
            node_metadata(node)[_MARK] = True
            self._watch_node(node, at, entry, timed, step)
        if len(self._handles) > _MANY_SPANS:
            self._handles = [x for x in self._handles if x.hooks_dict_ref() is not None]

    def _watch_node(self, node: Node, at: int, entry: Entry, timed: TimedCall, step: int) -> None:
        watch = self.watch

        def before(_: Any) -> None:
            if not self.recording or self._step != step:
                return
            begun = watch.begin()
            stack = self._stack()
            span = Span(entry, timed, stack[-1] if stack else None, at)
            stack.append(span)
            span.start = watch.start(begun)

        def after(_: Any, __: Any) -> None:
            if not self.recording or self._step != step:
                return
            stack = self._stack()
            if not stack or stack[-1].call is not timed or stack[-1].node != at:
                return
            span = stack.pop()
            span.stop, stopped = watch.stop()
            self._record.spans.append(span)
            watch.end(stopped)

        self._handles.append(node.register_prehook(before))
        self._handles.append(node.register_hook(after))

    # Steps

    def begin_step(self) -> None:
        """Start recording another, warm step."""
        self.recording = True
        self._record = StepRecord(self._warm, self.watch.mark())

    def end_step(self, whole: bool = True) -> None:
        """End a step, or the program within it.

        Calls after the last of several steps are not part of a step, and are left out.
        """
        record = self._record
        self.recording = False
        keep = whole or self._step == 0
        record.stop = self.watch.mark()
        self._step += 1
        self.unhook()
        if keep:
            self._waiting.append(record)
        else:
            self.left_out += len(record.calls)

    def unhook(self) -> None:
        """Remove all hooks from autograd's graph."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def _early(self) -> None:
        """Sum up the calls so far in a program without steps, before there are too many."""
        record = self._record
        if self._step:
            return
        record.stop = self.watch.mark()
        self.watch.wait()
        late = [x for x in record.calls if x.backward_row is not None and not x.backwards]
        record.calls = [x for x in record.calls if x.backward_row is None or x.backwards]
        self._add_up(record, ended=False)
        self._record = StepRecord(record.profile, record.stop)
        self._record.calls = late[-_MANY_SPANS:]

    def resolve(self, wait: bool) -> None:
        """Sum up the steps whose end the device has reached; all steps after waiting."""
        if wait:
            self.watch.wait()
        while self._waiting and (wait or self.watch.passed(self._waiting[0].stop)):
            record = self._waiting.popleft()
            if record.profile is self._warm and self._cold.rows and not self._warm.steps:
                self._calls.forget()
            self._add_up(record, ended=True)

    def _add_up(self, record: StepRecord, ended: bool) -> None:
        watch, profile = self.watch, record.profile
        if self._trace is not None:
            self._trace.add(record)
        profile.steps += ended
        profile.seconds += watch.seconds(record.start, record.stop)
        for span in record.spans:
            self._add_span(span, profile)
        for timed in record.calls:
            if timed.backward_row is not None and timed.backwards:
                each = timed.backward / timed.backwards
                for _ in range(timed.backwards):
                    timed.backward_row.add(each, profile.chance)
            self._calls.add(timed)
            if reason := notify("on_call", self._on_call, timed):
                self.listener_errors[reason] += 1

    def _add_span(self, span: Span, profile: Profile) -> None:
        watch, entry = self.watch, span.entry
        seconds = watch.seconds(span.start, span.stop)
        until_done = seconds if span.finish is None else watch.seconds(span.start, span.finish)
        row = entry.row
        moved = span.moved if entry.moved is None else float(entry.moved)
        flops = entry.flops or span.flops
        row.own += max(seconds - span.inner, 0.0)
        row.add_work(moved, flops)
        span.pass_on(seconds, moved, flops)
        if span.node < 0:
            row.add(max(until_done, seconds), profile.chance)
            if span.call is not None:
                span.call.forward = seconds
        elif span.call is not None:
            span.call.backward += seconds
            span.call.runs[span.node] = span.call.runs.get(span.node, 0) + 1
        watch.release(*(mark for mark in (span.start, span.stop, span.finish) if mark is not None))
