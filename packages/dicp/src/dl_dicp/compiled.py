"""An FX graph that runs as contract graphs, one for each layout of its arguments."""

from __future__ import annotations

import contextlib
import itertools
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule

from dl_core import _C

from .engines import registry
from .errors import NotCompiledError, RefusedCallError
from .memory import is_plain
from .patterns import registry as patterns
from .patterns.rewrite import Rewriting, rewrite
from .program import Program
from .recorder import Recorder
from .replay import check, overlapping, replica, written_arguments
from .statistics import statistics
from .trace import Trace


@dataclass(frozen=True)
class Options:
    """What ``torch.compile(options={...})`` takes.

    :ivar engine: how graphs run: ``"contract"``, call after call, or ``"tiled"``, with groups of
        calls block by block where that is faster; or the name of a plugin's graph engine, which
        gets the calls that it accepts. The others run as with ``"tiled"``.
    :ivar patterns: which sequences of calls are rewritten into fused ones: those of the patterns
        that are on by default, none (False), or those of a list of names.
    :ivar limit: layouts of arguments that one graph is compiled for; others run eagerly.
    :ivar check: run each new program once more and compare it with the eager run; it is used only
        if it agrees.
    """

    limit: int = 16
    check: bool = True
    engine: str = "tiled"
    patterns: bool | Sequence[str] = True

    def __post_init__(self) -> None:
        if isinstance(self.limit, bool) or not isinstance(self.limit, int) or self.limit < 0:
            raise ValueError(f"[dl] the option limit is {self.limit!r}, not a number from 0 on")
        patterns.chosen(self.patterns)
        if not isinstance(self.check, bool):
            raise ValueError(f"[dl] the option check is {self.check!r}, neither True nor False")
        if not registry.is_known(self.engine):
            known = ", ".join(registry.names())
            raise ValueError(f"[dl] the option engine is {self.engine!r}, not one of {known}")


@dataclass
class Variant:
    """What a graph became for one layout of its arguments.

    :ivar others: how arguments look that are neither integers nor dense tensors of the device.
    :ivar program: None: it runs eagerly, for ``reason``.
    :ivar rewriting: what patterns did to it.
    """

    guard: Any
    others: dict[int, Any]
    shapes: list[Any]
    program: Program | None = None
    reason: str = ""
    rewriting: Rewriting | None = None

    def holds(self, arguments: list[Any]) -> bool:
        """Whether it serves these arguments."""
        return bool(self.guard.holds(arguments)) and all(
            _look(arguments[i]) == look for i, look in self.others.items()
        )


all_graphs: weakref.WeakSet[CompiledGraph] = weakref.WeakSet()
"""Of this process, for reports."""


_numbers = itertools.count()


@dataclass(eq=False)
class CompiledGraph:
    """Called with a list of arguments, as AOTAutograd calls what it compiles.

    The first call with a layout runs eagerly and is recorded; later ones run the program.
    """

    module: GraphModule
    kind: str
    options: Options = field(default_factory=Options)
    variants: list[Variant] = field(default_factory=list)
    _boxed_call: bool = True

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._written = written_arguments(self.module)
        self.number = next(_numbers)
        all_graphs.add(self)

    def __call__(self, arguments: list[Any]) -> Any:
        """The results as a list.

        :raises RuntimeError: an operator failed; the message names it.
        """
        for variant in self.variants:
            if variant.holds(arguments):
                if variant.program is not None:
                    return variant.program.run(arguments)
                return self._eagerly(arguments, variant.reason)
        with self._lock:
            for variant in self.variants:
                if variant.holds(arguments):
                    break
            else:
                return self._first(arguments)
        return self(arguments)

    def _eagerly(self, arguments: list[Any], reason: str) -> Any:
        statistics.count_eager(reason)
        with torch.no_grad():
            return list(self.module(*arguments))

    def _first(self, arguments: list[Any]) -> Any:
        """A call with a new layout."""
        if len(self.variants) >= self.options.limit:
            return self._eagerly(arguments, f"more than {self.options.limit} layouts of arguments")
        device = next((a.device for a in arguments if _is_dl(a)), None)
        if device is None:
            return self._eagerly(arguments, "no argument is a tensor of dl")
        if any(node.op in ("call_module", "call_method") for node in self.module.graph.nodes):
            return self._eagerly(arguments, "it is no graph of functions")
        if self._written is None:
            return self._eagerly(arguments, "it writes to what is no argument")
        shared = overlapping(arguments, device)
        if shared and self._written:
            return self._eagerly(arguments, "arguments that share memory are written to")
        with torch.no_grad():
            apart = [replica(a) if i in shared else a for i, a in enumerate(arguments)]
            return self._compile(apart, device)

    def _compile(self, arguments: list[Any], device: torch.device) -> Any:
        before = self._before(arguments, device)
        with _generator_as_it_is(device) as rewind:
            results, trace = Recorder(self.module, device).run(arguments)
            results = list(results)
            variant = self._variant(arguments, trace, device)
            if isinstance(trace, NotCompiledError):
                variant.reason = str(trace)
            else:
                try:
                    self._make_program(
                        variant, trace, before, [*results, *arguments], device, rewind
                    )
                    statistics.count(compiled=1)
                except RefusedCallError:
                    return results  # the next call records it anew
                except NotCompiledError as reason:
                    variant.reason = str(reason)
        self.variants.append(variant)
        return results

    def _make_program(
        self,
        variant: Variant,
        trace: Trace,
        before: list[Any] | None,
        wanted: list[Any],
        device: torch.device,
        rewind: Callable[[], None],
    ) -> None:
        """Give a variant a program that agrees with the eager run: with patterns, if it does.

        :raises NotCompiledError: no program does.
        """

        def checked(trace: Trace, before: list[Any] | None) -> Program:
            program = Program(trace, self._written or set(), self.options.engine)
            if before is not None:
                rewind()
                check(program, before, wanted)
            return program

        done = rewrite(trace, patterns.chosen(self.options.patterns))
        if done.fired:
            apart = None if before is None else self._apart(before, device)
            try:
                variant.program = checked(done.trace, apart)
            except NotCompiledError as reason:
                done.declined += [(name, f"with it, {reason}") for name in sorted(set(done.fired))]
                done.fired.clear()
        if variant.program is None:
            variant.program = checked(trace, before)
        variant.rewriting = done
        statistics.count_patterns(done.fired, done.declined)

    def _before(self, arguments: list[Any], device: torch.device) -> list[Any] | None:
        """The arguments as they are now, or None if no check is wanted or possible."""
        return self._apart(arguments, device) if self.options.check else None

    def _apart(self, arguments: list[Any], device: torch.device) -> list[Any]:
        """The arguments, and copies of those that the graph writes to."""
        written = self._written or set()
        return [
            _copied(a, device) if i in written and isinstance(a, torch.Tensor) else a
            for i, a in enumerate(arguments)
        ]

    @staticmethod
    def _variant(
        arguments: list[Any], trace: Trace | NotCompiledError, device: torch.device
    ) -> Variant:
        wanted: list[Any] = []
        others: dict[int, Any] = {}
        for place, value in enumerate(arguments):
            if is_plain(value, device):
                layout = (value.dtype, tuple(value.shape), tuple(value.stride()))
                wanted.append((*layout, value.storage_offset()))
            elif isinstance(value, int) and not isinstance(value, bool):
                wanted.append(int(value))
            else:
                wanted.append(None)
                others[place] = _look(value)
        shapes = [tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in arguments]
        return Variant(_C.ArgumentGuard(device.index, wanted), others, shapes)


def _copied(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """A tensor that the graph writes to, in memory of its own. It may be one of the host: the
    steps that an optimizer counts are."""
    return replica(tensor) if is_plain(tensor, device) else tensor.clone()


def _look(value: Any) -> tuple[Any, ...]:
    """What an argument has to agree in: a tensor in how it lies, all else in its value."""
    if isinstance(value, torch.Tensor):
        return type(value), value.device, value.dtype, value.layout, tuple(value.shape)
    return type(value), value


def _is_dl(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "dl"


@contextlib.contextmanager
def _generator_as_it_is(device: torch.device) -> Iterator[Any]:
    """Gives what sets the default generators of the device and of the host to where they stood;
    at the end they stand where the first run has left them."""
    generators = (_C.default_generator(device.index), torch.default_generator)
    start = [each.get_state() for each in generators]
    after: list[torch.Tensor] = []

    def set_to(states: list[torch.Tensor]) -> None:
        for each, state in zip(generators, states, strict=True):
            each.set_state(state)

    def rewind() -> None:
        if not after:
            after.extend(each.get_state() for each in generators)
        set_to(start)

    try:
        yield rewind
    finally:
        if after:
            set_to(after)
