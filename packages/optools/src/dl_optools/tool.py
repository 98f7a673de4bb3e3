"""Base class of all tools: how they start and stop, and which calls reach them."""

from __future__ import annotations

import contextlib
import functools
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, ParamSpec, TypeVar

import torch
from typing_extensions import Self, TypedDict

from dl_optools import levels
from dl_optools.call import OpCall, own_work
from dl_optools.environment import environment
from dl_optools.names import Level
from dl_optools.operators import operator_names
from dl_optools.options import operator_lists
from dl_optools.outputs import ResultsError
from dl_optools.selection import OTHER_LEVEL, Selection, unmatched_texts
from dl_optools.tensors import runs_on
from dl_optools.unread import warn_unread

P = ParamSpec("P")
R = TypeVar("R")
Condition = Callable[..., bool]


def device_under_test() -> str:
    """Return the type of the device that tools observe: the accelerator, or else the CPU."""
    accelerator = torch.accelerator.current_accelerator()
    return "cpu" if accelerator is None else accelerator.type


def resolve_device(name: str) -> str:
    """Return the device with the given name, or the default for an empty name."""
    return name or device_under_test()


def check_device(kind: str, who: str) -> None:
    """Check that a name is a device type of this machine.

    :param who: name of the tool, for errors.
    :raises ValueError: the name has an index, torch does not know it, or the machine has no such
        device.
    """
    with own_work():
        known = _is_here(kind)
    if not known:
        here = dict.fromkeys([device_under_test(), "cpu"])
        raise ValueError(
            f"[{who}] device={kind!r} is not a type of device of this machine; "
            f"available: {', '.join(here)}"
        )


def _is_here(kind: str) -> bool:
    try:
        if torch.device(kind).type != kind:
            return False
    except RuntimeError:
        return False
    is_available = getattr(getattr(torch, kind, None), "is_available", None)
    return is_available is None or bool(is_available())


class ToolOptions(TypedDict, total=False):
    """The parameters of :class:`Tool`, for subclasses that add others and pass these on."""

    level: Level | str | None
    ops: str | Iterable[str] | None
    exclude: str | Iterable[str] | None
    device: str | None
    condition: Condition | None


class Tool:
    """A tool over the operators of a program, in the thread that starts it and in its backward.

    Use it as ``with Tool():``, as a decorator, or by :meth:`start` and :meth:`stop`; it can be
    restarted after it was stopped.

    :param level: ``"api"`` for functions of the Python interface, ``"dispatch"`` for the
        dispatcher's overloads; None: the tool's default.
    :param ops: names or regular expressions of the operators to observe; None: the variable
        ``OP_<TOOL>_LIST``, else all.
    :param exclude: names or expressions to leave out; None: ``OP_<TOOL>_DISABLE_LIST``.
    :param device: type of the device whose operators are observed; None: the accelerator's, or
        ``cpu`` without one.
    :param condition: called with the operator's arguments; the tool acts if it returns True.
    :raises PatternError: a list holds an invalid regular expression.
    """

    variable: ClassVar[str]
    """``OP_<variable>_LIST`` and ``OP_<variable>_DISABLE_LIST`` select operators."""
    default_level: ClassVar[Level] = Level.API
    observes: ClassVar[bool] = False
    """True if programs get the same results as without the tool, also if it fails."""
    every_thread: ClassVar[bool] = True
    """True if several threads may call the tool concurrently."""

    def __init__(
        self,
        *,
        level: Level | str | None = None,
        ops: str | Iterable[str] | None = None,
        exclude: str | Iterable[str] | None = None,
        device: str | None = None,
        condition: Condition | None = None,
    ) -> None:
        self.level = self.default_level if level is None else Level(level)
        self.device = device
        # Devices of that type seen so far; reading the type of a device is slow.
        self._devices: set[torch.device] = set()
        self.condition = condition
        include, leave_out = operator_lists(environment(), self.variable)
        self.selection = Selection.of(
            include if ops is None else ops,
            leave_out if exclude is None else exclude,
            f"{type(self).__name__} (OP_{self.variable}_LIST)",
        )
        self.says_unmatched = True
        self.reports = False
        """True if a command reports the merged :meth:`report` of all processes."""
        self.running = False
        self.losses: list[str] = []
        """Descriptions of results that could not be written."""
        self.left_out: list[str] = []
        """Descriptions of requested results that limits left out; a command reports them."""

    # Lifetime

    def start(self) -> Self:
        """Start to observe or change the calls of this thread.

        :raises RuntimeError: it is already running.
        :raises ValueError: this machine has no device of that type.
        :raises ResultsError: its results cannot be written.
        """
        if self.running:
            raise RuntimeError(f"[{type(self).__name__}] it is already running; stop it first")
        self.prepare()
        self.enter()
        self.running = True
        return self

    def enter(self) -> None:
        """Start to receive calls of this thread."""
        levels.add(self, self.level)

    def leave(self) -> None:
        """Stop receiving calls."""
        levels.remove(self, self.level)

    def let_be(self) -> None:
        """Detach in a forked child; the results belong to the parent."""
        for level in Level:
            if levels.has(self, level):
                levels.remove(self, level)

    def prepare(self) -> None:
        """Prepare for calls that arrive in another way than by :meth:`start`."""
        if self.device is None:
            self.device = device_under_test()
        check_device(self.device, type(self).__name__)
        warn_unread(self.variable)
        self.losses = []
        self.left_out = []
        self.opened()

    def stop(self) -> None:
        """Remove all hooks from torch, and complete pending work. Does nothing if not running.

        Best called while no operator and no backward runs; see :func:`.levels.remove`.

        :raises RuntimeError: it was started in another thread.
        :raises ResultsError: not all results were written; ``results`` is complete nevertheless.
        """
        if not self.running:
            return
        self.leave()
        self.complete()

    def complete(self) -> None:
        """Complete pending work after the last call, without removing hooks from torch.

        Unlike :meth:`stop` it may be called in any thread, where the process is about to end.

        :raises ResultsError: as :meth:`stop`.
        """
        self.running = False
        self.closed()
        self.warn_unmatched_patterns()
        self.raise_losses()

    def raise_losses(self) -> None:
        """Report lost results.

        :raises ResultsError: not all results were written.
        """
        if self.losses:
            name = type(self).__name__
            raise ResultsError(f"[{name}] results are lost: {'; '.join(self.losses)}")

    def describe_destination(self, path: Path) -> str:
        """Return ``written to PATH``, with a remark if something is missing."""
        lost = any(str(path) in loss for loss in self.losses)
        return f"{'not (all) ' if lost else ''}written to {path}"

    @contextlib.contextmanager
    def writing(self, path: Path) -> Iterator[None]:
        """Record write errors in this context; they are reported when the tool has stopped."""
        try:
            yield
        except OSError as error:
            self.losses.append(f"{path}: {error.strerror or error}")

    def warn_unmatched_patterns(self) -> None:
        """Warn about patterns in the list that matched no operator: they may be misspelled."""
        if self.says_unmatched and self.selection.asked:
            for line in unmatched_texts(type(self).__name__, self.unmatched()):
                warnings.warn(line, stacklevel=3)

    def unmatched(self) -> dict[str, str]:
        """Return patterns of the list that matched no operator, each with a suggestion.

        The suggestion is the closest name, or :data:`.OTHER_LEVEL` and a level that has such names,
        or "".
        """
        found = self.selection.unmatched()
        for pattern in found:
            fits = re.compile(pattern).fullmatch
            if any(map(fits, operator_names(self.level))):
                continue
            for level in Level:
                if level is not self.level and any(map(fits, operator_names(level))):
                    found[pattern] = f"{OTHER_LEVEL}{level.value}"
        return found

    def end(self) -> None:
        """Do the same as :meth:`stop`."""
        self.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Make a function run under the tool; recursive calls are part of the same run."""

        @functools.wraps(function)
        def under_tool(*args: P.args, **kwargs: P.kwargs) -> R:
            if levels.has(self, self.level):
                return function(*args, **kwargs)
            with self:
                return function(*args, **kwargs)

        return under_tool

    # Hooks for subclasses

    def opened(self) -> None:
        """Hook before the first call arrives."""

    def closed(self) -> None:
        """Hook after the last call."""

    def report(self) -> dict[str, Any] | None:
        """Return the results for JSON; None for tools that report them themselves."""
        return None

    def wants(self, name: str, function: Callable[..., Any]) -> bool:
        """Return True if calls of an operator reach the tool; called once for each operator."""
        return name in self.selection

    def applies(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        """Return True if one call reaches the tool."""
        if self.device is not None:
            # Most calls have a tensor as their first argument.
            first = args[0] if args else None
            if not (
                isinstance(first, torch.Tensor) and first.device in self._devices
            ) and not self._runs(self.device, args, kwargs):
                return False
        return self.condition is None or bool(self.condition(*args, **kwargs))

    def _runs(self, device: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        first = args[0] if args else None
        if isinstance(first, torch.Tensor) and first.device.type == device:
            self._devices.add(first.device)
            return True
        return runs_on(device, args, kwargs)

    def handle(self, call: OpCall) -> Any:
        """Process one call: :meth:`OpCall.proceed` runs it. The program gets the returned value."""
        raise NotImplementedError
