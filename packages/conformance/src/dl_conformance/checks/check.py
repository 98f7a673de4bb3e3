"""What a check is, and how one is run by its name."""

from __future__ import annotations

import fnmatch
import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from diopi_proto import NotSupportedError, OperatorError, Vendor
from diopi_proto.errors import DiopiError
from dl_conformance.execute import Outcome
from dl_conformance.refusal import DECLINED

SUBJECT = "runtime"
"""Stands where cases have an operator."""
Check = Callable[[Vendor], None]
Found = TypeVar("Found")


class WrongError(Exception):
    """What a library does is not what the contract says."""


class SkipError(Exception):
    """The library does not offer what is checked."""


_CHECKS: dict[str, Check] = {}


def check(words: str) -> Callable[[Check], Check]:
    """Declare a check; the words say what is right."""

    def declare(function: Check) -> Check:
        _CHECKS[f"{SUBJECT}[{words}]"] = function
        return function

    return declare


@cache
def checks() -> dict[str, Check]:
    """All checks by name."""
    from dl_conformance import checks as package

    for module in sorted(x.name for x in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"dl_conformance.checks.{module}")
    return dict(_CHECKS)


def is_check(name: str) -> bool:
    """Whether it is the name of a check, and not that of a case."""
    return name.startswith(f"{SUBJECT}[")


def chosen_by(patterns: list[str]) -> bool:
    """Whether ``--fname`` asks for the checks."""
    return not patterns or any(fnmatch.fnmatchcase(SUBJECT, x) for x in patterns)


def require(truth: object, said: str) -> None:
    """
    :raises WrongError: it is not true.
    """
    if not truth:
        raise WrongError(said)


def operator(vendor: Vendor, name: str) -> Callable[..., Any]:
    """An operator that a check uses.

    :raises SkipError: the library does not have it.
    """
    if not vendor.operators[name]:
        raise SkipError(f"{name} is not implemented")
    return vendor.op[name]


def offered(slot: str, ask: Callable[[], Found]) -> Found:
    """What a slot gives that a table may leave out.

    :raises SkipError: the library does not offer it.
    """
    try:
        return ask()
    except NotSupportedError as error:
        raise SkipError(f"{slot} is optional, and the library does not offer it") from error


def require_alone(right: Callable[[], bool], names: str, where: str) -> None:
    """See that operators are right by themselves, before anything else is blamed for what they
    give.

    :param where: a check goes on from there: ``"on one thread"``.
    :raises SkipError: they are wrong there too.
    """
    try:
        if right():
            return
        said = f"{names}: wrong {where} too"
    except DiopiError as error:
        said = f"{names}: an error {where} too: {error}"
    raise SkipError(f"{said}; the operators' own cases say more")


def run_check(vendor: Vendor, name: str) -> Outcome:
    """Run a check; whatever goes wrong is in the outcome."""

    def outcome(status: str, cause: str = "", detail: str = "") -> Outcome:
        return Outcome(name, SUBJECT, "", status, cause, detail)

    if vendor.is_legacy:
        return outcome("skipped", "a library without a table leaves this to its host")
    try:
        checks()[name](vendor)
    except SkipError as reason:
        return outcome("skipped", str(reason))
    except WrongError as error:
        return outcome("failed", "wrong behaviour", str(error))
    except OperatorError as error:
        if any(f"({symbol}," in str(error) for symbol in DECLINED):
            return outcome("skipped", "an operator that this computes with is declined", str(error))
        return outcome("failed", type(error).__name__, str(error))
    except DiopiError as error:
        return outcome("failed", type(error).__name__, str(error))
    return outcome("passed")
