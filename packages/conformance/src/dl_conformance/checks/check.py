"""Registry of checks, and helpers to write and run them."""

from __future__ import annotations

import fnmatch
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, wraps
from typing import Any, NoReturn, TypeVar
from weakref import WeakKeyDictionary

from diopi_proto import NotSupportedError, OperatorError, Vendor
from diopi_proto.errors import DiopiError
from diopi_proto.worker import note
from dl_conformance.execution.refusal import DECLINED
from dl_conformance.outcome import Outcome

SUBJECT = "runtime"
"""Name that checks have where cases have an operator."""
Check = Callable[[Vendor], None]
Found = TypeVar("Found")


class WrongError(Exception):
    """A library violates the contract."""


class SlotError(WrongError):
    """A slot or an operator is wrong; the message ends with the remedy.

    :ivar remedy: what to do about it.
    """

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message}; {remedy}")
        self.remedy = remedy


class SkipError(Exception):
    """A library does not support the feature under test."""


_CHECKS: dict[str, Check] = {}
_UNGUARDED: set[str] = set()
_OUTCOMES: WeakKeyDictionary[Vendor, dict[str, Outcome]] = WeakKeyDictionary()
"""Outcomes of the checks that have run, by vendor."""


def check(
    words: str, *, after: Sequence[str] = (), unguarded: bool = False
) -> Callable[[Check], Check]:
    """Register a check.

    :param words: description of the right behavior.
    :param after: words of other checks. If such a check fails, this one is skipped, so that a
        report names the faulty slot only, and not the slots whose checks rely on it.
    :param unguarded: run without guard bands, which wait for every operator.
    """

    def declare(function: Check) -> Check:
        @wraps(function)
        def run(vendor: Vendor) -> None:
            for each in after:
                if check_outcome(vendor, f"{SUBJECT}[{each}]").status == "failed":
                    raise SkipError(f"it relies on a failed check: {SUBJECT}[{each}]")
            function(vendor)

        name = f"{SUBJECT}[{words}]"
        _CHECKS[name] = run
        if unguarded:
            _UNGUARDED.add(name)
        return run

    return declare


def check_outcome(vendor: Vendor, name: str) -> Outcome:
    """Return the outcome of a check, which runs once for each vendor.

    A race may show in only one of two runs. If the checks that depend on this one saw another run
    than the report shows, they would be skipped because of a failure that the report omits.
    """
    known = _OUTCOMES.setdefault(vendor, {})
    if name not in known:
        known[name] = run_check(vendor, name)
    return known[name]


@cache
def checks() -> dict[str, Check]:
    """Return all checks by name."""
    from dl_conformance import checks as package

    for module in sorted(x.name for x in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"dl_conformance.checks.{module}")
    return dict(_CHECKS)


def asynchronous_checks() -> list[str]:
    """Return the names of the checks of streams, events and other asynchronous work."""
    return [name for name in checks() if name in _UNGUARDED]


def is_check(name: str) -> bool:
    """Return True for the name of a check, False for that of a case."""
    return name.startswith(f"{SUBJECT}[")


def rule_of(name: str) -> str:
    """Return the description of the right behavior from the name of a check."""
    return name.partition("[")[2].removesuffix("]")


def chosen_by(patterns: list[str]) -> bool:
    """Return True if ``--fname`` selects the checks."""
    return not patterns or any(fnmatch.fnmatchcase(SUBJECT, x) for x in patterns)


def require(condition: object, message: str) -> None:
    """
    :raises WrongError: the condition is false.
    """
    if not condition:
        raise WrongError(message)


def accuse(slot: str, observation: str, remedy: str) -> NoReturn:
    """Report a wrong slot of the vendor table.

    :raises SlotError: always, with a sentence that begins with the slot.
    """
    raise SlotError(f"{slot}: {observation}", remedy)


def operator(vendor: Vendor, name: str) -> Callable[..., Any]:
    """Return an operator that a check uses; each of its calls renews the deadline of the worker.

    :raises SkipError: the library does not implement it.
    """
    if not vendor.operators[name]:
        raise SkipError(f"{name} is not implemented")
    called = vendor.op[name]

    @wraps(called)
    def call(*arguments: Any, **options: Any) -> Any:
        note(name)
        return called(*arguments, **options)

    return call


def offered(slot: str, ask: Callable[[], Found]) -> Found:
    """Call a function that uses an optional slot of the vendor table.

    :raises SkipError: the library does not provide the slot.
    """
    try:
        return ask()
    except NotSupportedError as error:
        raise SkipError(f"{slot} is optional, and the library does not provide it") from error


def require_alone(right: Callable[[], bool], names: str, where: str) -> None:
    """Check that operators are right in a simple setting, so that a later failure has another
    cause.

    :param where: description of the simple setting: ``"on one thread"``.
    :raises SkipError: the operators are wrong in that setting too.
    """
    try:
        if right():
            return
        message = f"{names}: wrong {where} too"
    except DiopiError as error:
        message = f"{names}: an error {where} too: {error}"
    raise SkipError(f"{message}; see the cases of these operators")


def run_check(vendor: Vendor, name: str) -> Outcome:
    """Run a check; the outcome contains any failure."""

    def outcome(status: str, cause: str = "", detail: str = "") -> Outcome:
        return Outcome(name, SUBJECT, "", status, cause, detail)

    if vendor.is_legacy:
        return outcome("skipped", "a library without a vendor table leaves this to its host")
    # This fills `_UNGUARDED`, which is read below: it imports the modules of checks if necessary.
    run = checks()[name]
    try:
        with vendor.unguarded() if name in _UNGUARDED else nullcontext():
            run(vendor)
    except SkipError as reason:
        return outcome("skipped", str(reason))
    except WrongError as error:
        remedy = error.remedy if isinstance(error, SlotError) else ""
        return replace(outcome("failed", "wrong behaviour", str(error)), remedy=remedy)
    except OperatorError as error:
        if error.code in DECLINED:
            return outcome("skipped", "an operator that this check uses is declined", str(error))
        return outcome("failed", type(error).__name__, str(error))
    except DiopiError as error:
        return outcome("failed", type(error).__name__, str(error))
    return outcome("passed")
