"""The process that runs cases: ``python -m dl_conformance.worker``, started by :mod:`.pool`.

It reads a line of JSON for each case from one pipe and writes one for each outcome to another. What
a library prints goes elsewhere; what it does to the process ends this process only.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from cffi import FFI

from diopi_proto import Vendor

from .absence import absence
from .adapted import conversions
from .case import Case
from .catalog import case_named, cases_of_files
from .checks.check import is_check, run_check
from .execute import Outcome, run
from .pool import LOST, NO_DEVICE, failed
from .target import Target

PR_SET_PDEATHSIG = 1
"""Of linux/prctl.h."""


def outcome_of(vendor: Vendor, name: str, captured: Mapping[str, Case]) -> Outcome:
    """Run one case; an error of the suite itself is an outcome too."""
    start = time.monotonic()
    vendor.reset_conversions()
    try:
        if is_check(name):
            outcome = run_check(vendor, name)
        else:
            outcome = run(vendor, captured.get(name) or case_named(name))
    except Exception:  # noqa: BLE001 - one case, not the run, is lost
        outcome = failed(name, "error of the suite", traceback.format_exc(limit=-4))
    converted = conversions(vendor)
    return replace(outcome, seconds=time.monotonic() - start, conversions=converted)


def works(vendor: Vendor) -> bool:
    """Whether its device takes an element and gives it back: one that has failed may not."""
    try:
        return float(vendor.tensor(np.ones(1, np.float32)).numpy()[0]) == 1
    except Exception:  # noqa: BLE001 - whatever it raises, it does not
        return False


def end_with_parent() -> None:
    """Have this process killed when the thread that started it ends.

    A run that is killed would else leave behind a library that hangs. Where there is no such call,
    a worker ends when it next asks for a case.
    """
    if sys.platform == "linux":
        ffi = FFI()
        ffi.cdef("int prctl(int option, unsigned long argument);")
        ffi.dlopen(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main(incoming: int, outgoing: int) -> None:
    """Serve until the other side closes."""
    faulthandler.enable()
    end_with_parent()
    with (
        os.fdopen(incoming, encoding="utf-8") as asked,
        os.fdopen(outgoing, "w", encoding="utf-8") as answers,
    ):

        def answer(message: dict[str, Any]) -> None:
            answers.write(json.dumps(message) + "\n")
            answers.flush()

        asked_for = json.loads(asked.readline())
        try:
            captured = cases_of_files(asked_for["files"])
            vendor = Target(**asked_for["target"]).load()
            reason = absence(vendor)
        except Exception as error:  # noqa: BLE001 - told to the user by the other side
            answer({"fatal": f"{type(error).__name__}: {error}"})
            return
        if reason is not None:
            answer({NO_DEVICE: reason})
            return
        about = {"name": vendor.name, "version": vendor.version}
        if vendor.adaptor is not None:
            about["adapted"] = vendor.adaptor.summary()
        answer(about)
        worked = works(vendor)
        for line in asked:
            outcome = outcome_of(vendor, json.loads(line), captured)
            lost = worked and outcome.status == "failed" and not works(vendor)
            answer({**outcome.as_dict(), LOST: lost})


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
