"""Request handler of the processes that run cases; :mod:`.pool` starts them."""

from __future__ import annotations

import faulthandler
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from diopi_proto import Vendor
from diopi_proto.added import describe

from .absence import absence
from .adapted import conversions
from .case import Case
from .catalog import case_named, cases_of_files
from .checks.check import check_outcome, is_check
from .execution import run
from .outcome import Outcome
from .target import Target

LOST = "device lost"
"""Key of an answer: True if the device worked when the worker started, but not after the case."""
NO_DEVICE = "no device"
"""Key of the first answer: reason why the library has no device."""


def failed(name: str, cause: str, detail: str) -> Outcome:
    """Return the outcome of a case that did not finish."""
    operator, _, rest = name.partition("[")
    dtype = "" if is_check(name) else rest.rstrip("]").partition("-")[0]
    return Outcome(name, operator, dtype, "failed", cause, detail)


def outcome_of(vendor: Vendor, name: str, captured: Mapping[str, Case]) -> Outcome:
    """Run one case; an error of the suite itself is an outcome too."""
    start = time.monotonic()
    vendor.reset_conversions()
    try:
        if is_check(name):
            outcome = check_outcome(vendor, name)
        else:
            outcome = run(vendor, captured.get(name) or case_named(name))
    except Exception:  # noqa: BLE001 - one case, not the run, is lost
        outcome = failed(name, "error of the suite", traceback.format_exc(limit=-4))
    converted = conversions(vendor)
    return replace(outcome, seconds=time.monotonic() - start, conversions=converted)


def works(vendor: Vendor) -> bool:
    """Return True if an element survives a round trip to the device, which may have failed."""
    try:
        return float(vendor.tensor(np.ones(1, np.float32)).numpy()[0]) == 1
    except Exception:  # noqa: BLE001 - whatever it raises, the device does not work
        return False


def describe_device(vendor: Vendor) -> str:
    """Return the name and architecture of device 0; "" if the library does not report them."""
    try:
        found = vendor.properties(0)
    except Exception:  # noqa: BLE001 - a check of the suite reports it
        return ""
    return f"{found.name} ({found.architecture})" if found.architecture else found.name


class Cases:
    """Handler of requests: the name of a case requests its outcome, None the name of the library.

    Output that a library prints is not part of an answer, and a crash ends only this process.

    :param files: additional case files.
    """

    def __init__(self, target: Target, files: Sequence[str]) -> None:
        faulthandler.enable()
        self.target, self.files = target, files

    def __call__(self, name: str | None) -> dict[str, Any]:
        """Load the library, which must be the first request, or run a case."""
        if name is None:
            return self._load()
        outcome = outcome_of(self.vendor, name, self.captured)
        lost = self.worked and outcome.status == "failed" and not works(self.vendor)
        return {**outcome.as_dict(), LOST: lost}

    def _load(self) -> dict[str, Any]:
        try:
            self.captured = cases_of_files(self.files)
            self.vendor = vendor = self.target.load()
            reason = absence(vendor)
        except Exception as error:  # noqa: BLE001 - the parent process reports it
            return {"fatal": f"{type(error).__name__}: {error}"}
        if reason is not None:
            return {NO_DEVICE: reason}
        self.worked = works(vendor)
        about: dict[str, Any] = {
            "name": vendor.name,
            "version": vendor.version,
            "device": describe_device(vendor),
        }
        if vendor.adaptor is not None:
            about["adapted"] = vendor.adaptor.summary()
        if self.target.added:
            about["adds"] = describe(vendor.added_operators())
        return about
