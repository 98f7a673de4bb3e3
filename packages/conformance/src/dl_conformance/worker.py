"""The process that runs cases: ``python -m dl_conformance.worker``, started by :mod:`.pool`.

It reads a line of JSON for each case from one pipe and writes one for each outcome to another. What
a library prints goes elsewhere; what it does to the process ends this process only.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import time
import traceback
from dataclasses import replace
from typing import Any

from diopi_proto import Vendor

from .catalog import case_named
from .checks.check import is_check, run_check
from .execute import Outcome, run
from .target import Target


def outcome_of(vendor: Vendor, name: str) -> Outcome:
    """Run one case; an error of the suite itself is an outcome too."""
    start = time.monotonic()
    try:
        outcome = run_check(vendor, name) if is_check(name) else run(vendor, case_named(name))
    except Exception:  # noqa: BLE001 - one case, not the run, is lost
        operator, _, rest = name.partition("[")
        dtype = "" if is_check(name) else rest.rstrip("]").partition("-")[0]
        said = traceback.format_exc(limit=-4)
        outcome = Outcome(name, operator, dtype, "failed", "error of the suite", said)
    return replace(outcome, seconds=time.monotonic() - start)


def main(incoming: int, outgoing: int) -> None:
    """Serve until the other side closes."""
    faulthandler.enable()
    with (
        os.fdopen(incoming, encoding="utf-8") as asked,
        os.fdopen(outgoing, "w", encoding="utf-8") as answers,
    ):

        def answer(message: dict[str, Any]) -> None:
            answers.write(json.dumps(message) + "\n")
            answers.flush()

        target = Target(**json.loads(asked.readline()))
        try:
            vendor = target.load()
        except Exception as error:  # noqa: BLE001 - told to the user by the other side
            answer({"fatal": f"{type(error).__name__}: {error}"})
            return
        answer({"name": vendor.name, "version": vendor.version})
        for line in asked:
            answer(outcome_of(vendor, json.loads(line)).as_dict())


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
