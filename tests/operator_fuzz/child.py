"""The process that makes calls: ``python -m operator_fuzz.child REPORT DEVICE``, jobs on stdin.

A job is a JSON line ``[seed, operator, first, end]``. Before a call it reports the number,
afterwards the end, so that a crash is attributed to its call. DEVICE ``cpu`` makes the call on the
CPU alone, which shows whether a crash is torch's own.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys
import time
import warnings

import torch
from opinfo.relocate import Relocation
from opinfo.sweep import run
from torch.testing._internal import common_utils
from torch.testing._internal.opinfo import core

from .calls import draw_call
from .causes import cause_of
from .judge import Difference, compare_devices
from .overflow import run_on_magnitudes, run_wide
from .targets import target_of

MEMORY = 6 << 30
"""Bytes of data: a call that needs more runs out of memory on both devices."""


def prepare() -> None:
    """Make calls repeatable and cheap."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    # Torch formats the whole stack wherever it seeds a device that is absent.
    for module in (torch.cuda, torch.xpu, torch.mtia):
        if not module.is_available():
            module.manual_seed_all = lambda seed: None
    for module in (common_utils, core):
        module.extract_test_fn = lambda: None


def do(seed: str, name: str, first: int, end: int, device: str, report: int) -> None:
    """Make calls ``first`` to ``end - 1`` of an operator and report each."""

    def write(*record: object) -> None:
        os.write(report, json.dumps(record).encode() + b"\n")

    target = target_of(name)
    started = time.monotonic()
    write("begin", name, first - 1)
    samples = target.samples()
    for number in range(first, end):
        write("begin", name, number)
        try:
            call = draw_call(target, samples, seed, number)
        except Exception as error:  # noqa: BLE001 - a change that does not suit the sample
            write("end", name, number, f"not drawn: {type(error).__name__}", "", "", "")
            continue
        if device == "cpu":
            run(call.function, Relocation()(call.arguments))
            run_wide(call)
            run_on_magnitudes(call)
            write("end", name, number, "", "", "", "")
            continue
        found = compare_devices(call, device)
        if isinstance(found, Difference):
            cause = cause_of(found)
            write("end", name, number, cause, found.kind, found.text[:600], call.text())
        else:
            write("end", name, number, found, "", "", "")
    write("seconds", name, end, time.monotonic() - started)


def main() -> None:
    report, device = int(sys.argv[1]), sys.argv[2]
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    prepare()
    for line in sys.stdin:
        seed, name, first, end = json.loads(line)
        do(seed, name, first, end, device, report)
    os._exit(0)  # destructors at exit are not under test


if __name__ == "__main__":
    main()
