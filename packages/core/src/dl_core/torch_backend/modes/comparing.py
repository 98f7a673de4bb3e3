"""Autocompare: comparison of every result of selected operators with the CPU's."""

from __future__ import annotations

import functools
import logging
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from diopi_proto.text import write_error
from diopi_proto.tolerance.torch_operators.comparison import OutputComparison, same_values, to_host
from diopi_proto.tolerance.torch_operators.op_classes import draws, may_compute
from diopi_proto.tolerance.torch_operators.schema import signature
from dl_core import _C
from dl_core.config import ACTIONS
from dl_core.errors import WrongResultError
from dl_core.torch_backend.modes.descriptions import short, where
from dl_core.torch_backend.modes.layers import Layers
from dl_core.torch_backend.modes.overloads import overload_of
from dl_core.torch_backend.modes.reference import Copied, answers, copy_of, on_host
from dl_core.torch_backend.modes.verdict import NotComparableError, Verdict
from dl_core.torch_backend.modes.watching import After, Results, watch, watchable

_log = logging.getLogger("dl_core.autocompare")

RANDOM = "it uses random numbers, and the CPU's generator gives different ones"
UNINITIALISED = "it returns uninitialized memory"
LEVELS = (0, 1)
"""Lines on stderr: none; one for each compared call."""


@dataclass(frozen=True)
class Finding:
    """One call whose results differ from the CPU's, or that wrote to a read-only argument.

    :ivar operator: ``add.Tensor``.
    :ivar outputs: what differs: ``output 0``, ``argument self``.
    :ivar message: the complete message that is reported.
    """

    operator: str
    device: int
    outputs: tuple[str, ...]
    message: str


@dataclass
class Report:
    """Results of a block.

    :ivar compared: number of compared calls by operator.
    :ivar wrong: findings in the order of the calls. A composed operator is listed only if the
        operators that it calls are correct.
    :ivar not_comparable: operators with calls that were not compared, each with the last reason.
    """

    compared: Counter[str] = field(default_factory=Counter)
    wrong: list[Finding] = field(default_factory=list)
    not_comparable: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Choice:
    names: frozenset[str] = frozenset()
    action: str = ""  # the outer block's
    report: Report | None = None
    level: int = 0


class _Calls(threading.local):
    """The active calls of this thread, starting with the outermost."""

    def __init__(self) -> None:
        self.guilty: list[bool] = []


class _Autocompare:
    def __init__(self) -> None:
        self.choices: list[_Choice] = []
        self._calls = _Calls()

    def before(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> After | None:
        reason = _reason(name)
        overload = overload_of(name)
        if not reason and draws(overload, args, kwargs):
            reason = RANDOM
        if reason:
            self._note_skipped(name, reason)
            return None
        device = where(*args, *kwargs.values())
        try:
            copied = copy_of(overload, args, kwargs)
        except Exception as error:  # noqa: BLE001 - an observer must not stop the program
            self._note_skipped(name, f"copying failed: {type(error).__name__}: {error}")
            return None
        self._calls.guilty.append(False)

        def after(results: Results) -> None:
            parts_are_right = not self._calls.guilty.pop()
            if results is None:
                return
            returned = results[0] if len(results) == 1 else results
            got = answers(signature(overload), args, kwargs, returned)
            self._judge(name, device, copied, got, parts_are_right)

        return after

    def _judge(
        self, name: str, device: int, copied: Copied, got: Any, parts_are_right: bool
    ) -> None:
        try:
            wrong = Verdict(copied, on_host(got)).wrong()
        except NotComparableError as error:
            self._note_skipped(name, f"the CPU does not compute it: {error}")
            return
        except Exception as error:  # noqa: BLE001 - an observer must not stop the program
            self._note_skipped(name, f"the comparison failed: {type(error).__name__}: {error}")
            return
        wrong += [part for part in map(_unmodified, copied.read) if part is not None]
        for choice in self._of(name):
            if choice.report is not None:
                choice.report.compared[name] += 1
        if any(choice.level for choice in self._of(name)):
            _log_call(name, device, wrong)
        if not wrong:
            return
        self._calls.guilty = [True] * len(self._calls.guilty)
        if parts_are_right:
            self._alarm(_finding(name, device, copied, wrong))

    def _alarm(self, finding: Finding) -> None:
        choices = self._of(finding.operator)
        for choice in choices:
            if choice.report is not None:
                choice.report.wrong.append(finding)
        actions = [choice.action for choice in choices if choice.action]
        if actions and actions[-1] == "raise":
            raise WrongResultError(finding.message)
        _log.warning("%s", finding.message)

    def _note_skipped(self, name: str, reason: str) -> None:
        for choice in self._of(name):
            if choice.report is not None:
                choice.report.not_comparable[name] = reason

    def _of(self, name: str) -> list[_Choice]:
        return [choice for choice in self.choices if name in choice.names]


_autocompare = _Autocompare()


def _apply(choices: list[_Choice]) -> None:
    watch(_autocompare, frozenset[str]().union(*(choice.names for choice in choices)))
    _autocompare.choices = choices


_choices: Layers[_Choice] = Layers(_Choice(), _apply)


def _choice(
    api: str, patterns: Sequence[str] | str, action: str, level: int, report: Report | None = None
) -> _Choice:
    if action not in ACTIONS:
        raise ValueError(
            f"[torch.dl.{api}] unknown action {action!r}; expected {', '.join(ACTIONS)}"
        )
    if level not in LEVELS or isinstance(level, bool):
        raise ValueError(f"[torch.dl.{api}] unknown level {level!r}; expected 0 or 1")
    return _Choice(watchable(api, patterns), action, report, level)


def set_process(patterns: Sequence[str] | str, action: str, level: int) -> list[str]:
    """See :func:`dl_core.torch_backend.modes.set_autocompare`."""
    choice = _choice("set_autocompare", patterns, action, level)
    _choices.set(choice)
    return sorted(choice.names)


@contextmanager
def block(patterns: Sequence[str] | str, action: str, level: int) -> Iterator[Report]:
    """See :func:`dl_core.torch_backend.modes.autocompare`."""
    report = Report()
    with _choices.block(_choice("autocompare", patterns, action, level, report)):
        yield report


def _log_call(name: str, device: int, wrong: list[OutputComparison]) -> None:
    """Write a line about one compared call to stderr."""
    index = device if device >= 0 else _C.current_device()
    verdict = f"not_close: {', '.join(part.output for part in wrong)}" if wrong else "allclose"
    if sys.stderr is not None:
        # One call of write(), so that lines of two threads do not mix.
        write_error(f"autocompare: {name} on dl:{index}: {verdict}\n")
        sys.stderr.flush()


@functools.cache
def _reason(name: str) -> str:
    """Return why no call of an operator can be compared; empty if some calls can."""
    overload = overload_of(name)
    if may_compute(overload):
        return ""
    return RANDOM if torch.Tag.nondeterministic_seeded in overload.tags else UNINITIALISED


def _unmodified(read: tuple[str, torch.Tensor, torch.Tensor]) -> OutputComparison | None:
    name, tensor, before = read
    now = to_host(tensor)
    if same_values(now, to_host(before)):
        return None
    label = f"argument {name}"
    detail = f"{label}: its value changed, which the operator's schema does not allow"
    return OutputComparison(label, False, detail=detail)


def _finding(name: str, device: int, copied: Copied, wrong: list[OutputComparison]) -> Finding:
    index = device if device >= 0 else _C.current_device()
    vendor = _C.device_info(index)["vendor"]
    args, kwargs = copied.arguments
    given = copied.facts.bind(args, kwargs)
    said = "\n".join(part.detail for part in wrong).replace("\n", "\n  ")
    message = (
        f"[autocompare] {name} on dl:{index} (vendor {vendor}) differs from the CPU\n"
        f"  {said}\n"
        f"  called with {', '.join(f'{key}={short(value)}' for key, value in given.items())}"
    )
    return Finding(name, index, tuple(part.output for part in wrong), message)
