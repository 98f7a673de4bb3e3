"""What all tools have in common: how they start and stop, and which calls reach them."""

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
from dl_optools.selection import OTHER_LEVEL, Selection, unmet_texts
from dl_optools.tensors import runs_on

P = ParamSpec("P")
R = TypeVar("R")
Condition = Callable[..., bool]


def device_under_test() -> str:
    """The type of the device that tools look at: the accelerator, or else the CPU."""
    accelerator = torch.accelerator.current_accelerator()
    return "cpu" if accelerator is None else accelerator.type


def chosen_device(name: str) -> str:
    """The device of that name; of none, that under test."""
    return name or device_under_test()


def check_device(kind: str, who: str) -> None:
    """Refuse what is no type of device of this machine.

    :param who: what the error names.
    :raises ValueError: it has an index, torch does not know it, or there is none here.
    """
    with own_work():
        known = _is_here(kind)
    if not known:
        here = dict.fromkeys([device_under_test(), "cpu"])
        raise ValueError(
            f"[{who}] device={kind!r} is not a type of device of this machine; "
            f"there are {', '.join(here)}"
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
    """The parameters of :class:`Tool`, for tools that have others besides and hand these on."""

    level: Level | str | None
    ops: str | Iterable[str] | None
    exclude: str | Iterable[str] | None
    device: str | None
    condition: Condition | None


class Tool:
    """A tool over the operators of a program, in the thread that starts it and in its backward.

    Use it as ``with Tool():``, as a decorator, or by :meth:`start` and :meth:`stop`; the same one
    may be started again after it was stopped.

    :param level: ``"api"`` for functions of Python's interface, ``"dispatch"`` for the dispatcher's
        overloads; None: the tool's own choice.
    :param ops: names or regular expressions of the operators to look at; None: the variable
        ``OP_<TOOL>_LIST``, else all.
    :param exclude: names or expressions to leave out; None: ``OP_<TOOL>_DISABLE_LIST``.
    :param device: type of the device whose operators are looked at; None: the accelerator's, or
        ``cpu`` where there is none.
    :param condition: called with the operator's arguments; the tool acts where it returns True.
    :raises PatternError: a list holds what is no regular expression.
    """

    variable: ClassVar[str]
    """``OP_<variable>_LIST`` and ``OP_<variable>_DISABLE_LIST`` select operators."""
    default_level: ClassVar[Level] = Level.API
    observes: ClassVar[bool] = False
    """Programs get what they would get without the tool, also where it fails."""
    every_thread: ClassVar[bool] = True
    """Calls may come from several threads at a time."""

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
        # Those of that type that were met; asking one for its type takes long.
        self._devices: set[torch.device] = set()
        self.condition = condition
        include, leave_out = operator_lists(environment(), self.variable)
        self.selection = Selection.of(
            include if ops is None else ops,
            leave_out if exclude is None else exclude,
            f"{type(self).__name__} (OP_{self.variable}_LIST)",
        )
        self.says_unmet = True
        self.reports = False
        """Whether a command says what :meth:`report` has, of all processes together."""
        self.running = False
        self.losses: list[str] = []
        """Which results could not be written, and why."""
        self.left_out: list[str] = []
        """Which results limits left out that were asked for, in words; a command says them."""

    # Life

    def start(self) -> Self:
        """Act on this thread's calls from now on.

        :raises RuntimeError: it runs already.
        :raises ValueError: this machine has no device of that type.
        :raises ResultsError: its results cannot be written.
        """
        if self.running:
            raise RuntimeError(f"[{type(self).__name__}] it runs already; stop it first")
        self.prepare()
        self.enter()
        self.running = True
        return self

    def enter(self) -> None:
        """Have calls of this thread arrive."""
        levels.add(self, self.level)

    def leave(self) -> None:
        """Have them arrive no more."""
        levels.remove(self, self.level)

    def let_be(self) -> None:
        """In a forked child: have no call arrive; what was found is the parent's."""
        for level in Level:
            if levels.has(self, level):
                levels.remove(self, level)

    def prepare(self) -> None:
        """Be ready for calls that come in another way than by :meth:`start`."""
        if self.device is None:
            self.device = device_under_test()
        check_device(self.device, type(self).__name__)
        self.losses = []
        self.left_out = []
        self.opened()

    def stop(self) -> None:
        """Leave no trace in torch, and finish what was begun. Does nothing where it does not run.

        Best called where no operator and no backward runs; see :func:`.levels.remove`.

        :raises RuntimeError: another thread started it.
        :raises ResultsError: not all results were written; ``results`` has them all the same.
        """
        if not self.running:
            return
        self.leave()
        self.running = False
        self.closed()
        self.warn_unmatched_patterns()
        self.raise_losses()

    def raise_losses(self) -> None:
        """:raises ResultsError: not all results were written."""
        if self.losses:
            name = type(self).__name__
            raise ResultsError(f"[{name}] results are lost: {'; '.join(self.losses)}")

    def where_written(self, path: Path) -> str:
        """``written to PATH``, if that is so."""
        lost = any(str(path) in loss for loss in self.losses)
        return f"{'not (all) ' if lost else ''}written to {path}"

    @contextlib.contextmanager
    def writing(self, path: Path) -> Iterator[None]:
        """What fails to be written in here is noted, and said when the tool has stopped."""
        try:
            yield
        except OSError as error:
            self.losses.append(f"{path}: {error.strerror or error}")

    def warn_unmatched_patterns(self) -> None:
        """Warn of names and patterns in the list that no operator had: they may be misspelled."""
        if self.says_unmet and self.selection.asked:
            for line in unmet_texts(type(self).__name__, self.unmet()):
                warnings.warn(line, stacklevel=3)

    def unmet(self) -> dict[str, str]:
        """Patterns of the list that no operator matched, each with what to write in its place.

        That is the nearest name, or :data:`.OTHER_LEVEL` and a level that has names like that, or
        "".
        """
        found = self.selection.unmet()
        for pattern in found:
            fits = re.compile(pattern).fullmatch
            if any(map(fits, operator_names(self.level))):
                continue
            for level in Level:
                if level is not self.level and any(map(fits, operator_names(level))):
                    found[pattern] = f"{OTHER_LEVEL}{level.value}"
        return found

    def end(self) -> None:
        """The same as :meth:`stop`."""
        self.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Make a function run under the tool; where it calls itself, it does so already."""

        @functools.wraps(function)
        def under_tool(*args: P.args, **kwargs: P.kwargs) -> R:
            if levels.has(self, self.level):
                return function(*args, **kwargs)
            with self:
                return function(*args, **kwargs)

        return under_tool

    # What a tool is

    def opened(self) -> None:
        """Called before the first call arrives."""

    def closed(self) -> None:
        """Called after the last call has passed."""

    def report(self) -> dict[str, Any] | None:
        """What was found, as JSON has it; None of tools that say it themselves."""
        return None

    def wants(self, name: str, function: Callable[..., Any]) -> bool:
        """Whether calls of an operator reach the tool; asked once for each operator."""
        return name in self.selection

    def applies(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        """Whether one call reaches the tool."""
        if self.device is not None:
            # Most calls have a tensor in front.
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
        """Act on one call: :meth:`OpCall.proceed` runs it. What is returned, the program gets."""
        raise NotImplementedError
