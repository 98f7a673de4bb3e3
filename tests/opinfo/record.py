"""Record what the tests of this folder expect of a vendor: ``python -m opinfo.record`` in tests/.

Runs OpInfo's samples on dl:0, which DL_VENDORS selects, and writes two files:

- ``native_calls.txt`` here: the OpInfo operators that call an overload of dl-core, for
test_native.py;
- ``tests/opinfo_without_fallback.txt`` of the vendor's package, if it exists: operators that need
no fallback, for test_sweep.py.

Both describe the present code. Review the difference before committing it: an operator that left
the second file has begun to fall back.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

from dl_torch_tests.opinfo.gradients import gradient_cases
from dl_torch_tests.opinfo.operators import Judgement, full_name
from dl_torch_tests.opinfo.sweep import check_forward, move, run, samples_of
from dl_torch_tests.opinfo.without_fallback import NAME, listed

from .callers import BACKWARD, FORWARD, Callers, read, write
from .native import CASES, NATIVE_CALLS
from .vendor_lists import LISTS

HOME_DTYPES = (torch.float32, torch.int64, torch.bool)
MOST_CALLERS = 6
"""Maximum number of callers of an overload in one mode: more take long and add little."""
SAMPLES = 30

# Overloads that each OpInfo operator calls.
Calls = dict[str, frozenset[str]]


def record(device: str = "dl:0") -> None:
    """Run all operators and write the files."""
    vendor = str(torch.dl.get_device_properties(0).vendor)
    forward: Calls = {}
    backward: Calls = {}
    free = []
    for number, op in enumerate(op_db, 1):
        name = full_name(op)
        _show(f"{number}/{len(op_db)} {name}")
        forward[name] = _called(op, FORWARD, device)
        backward[name] = _called(op, BACKWARD, device)
        if torch.float32 in op.dtypes and _needs_no_fallback(op, device):
            free.append(name)
    _show("")
    claimed = set(torch.dl.native_operators(0))
    callers = choose(claimed - CASES.keys(), forward, backward)
    kept = {k: v for k, v in read(NATIVE_CALLS).items() if k not in claimed and k not in CASES}
    write(NATIVE_CALLS, kept | callers)
    path = LISTS.find(vendor, NAME)
    if path is not None and listed(vendor, LISTS):
        # Entries that only the databases of other torch releases have are kept.
        free += listed(vendor, LISTS) - {full_name(op) for op in op_db}
        first = "# OpInfo operators whose float32 samples all run without a fallback on vendor"
        path.write_text("\n".join([f"{first} {vendor}.", *sorted(free)]) + "\n", encoding="utf-8")


def choose(overloads: set[str], forward: Calls, backward: Calls) -> dict[str, Callers]:
    """Choose the operators that exercise each overload: in forward if there are any.

    Prefer those with the overload's own name, then those that call the fewest other overloads: a
    failure of these is most likely the overload's.
    """
    chosen = {}
    for overload in sorted(overloads):
        for mode, calls in ((FORWARD, forward), (BACKWARD, backward)):
            found = sorted(
                (name for name, called in calls.items() if overload in called),
                key=lambda name: (len(calls[name]), name),
            )
            own = [name for name in found if name.split(".")[0] == overload.split(".")[0]]
            plain = [name for name in found if len(calls[name]) <= len(calls[found[0]]) + 1]
            if found:
                chosen[overload] = Callers(mode, tuple(sorted((own or plain)[:MOST_CALLERS])))
                break
    return chosen


def _called(op: Any, mode: str, device: str) -> frozenset[str]:
    """Return the overloads that ran in the vendor's code during the operator's samples."""
    dtype = next((each for each in HOME_DTYPES if each in op.dtypes), None)
    differentiable = dtype in op.backward_dtypes if dtype == torch.float32 else False
    if dtype is None or (mode == BACKWARD and not (op.supports_autograd and differentiable)):
        return frozenset()
    found: dict[str, int] = defaultdict(int)
    with warnings.catch_warnings(), torch.dl.profile_operators():
        warnings.simplefilter("ignore")
        torch.dl.reset_native_stats()
        if mode == FORWARD:
            for arguments in samples_of(op, dtype)[:SAMPLES]:
                on_device = move(arguments, Judgement.of(op), device)
                run(lambda each: op(each[0], *each[1], **each[2]), on_device)
        else:
            for number, (call, arguments) in enumerate(gradient_cases(op, dtype)):
                if number < SAMPLES:
                    run(call, move(arguments, Judgement.of(op), device))
        for overload, stats in torch.dl.native_stats().items():
            found[overload] += stats["count"]
    return frozenset(overload for overload, count in found.items() if count)


def _needs_no_fallback(op: Any, device: str) -> bool:
    torch.dl.reset_fallback_stats()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = check_forward(op, torch.float32, device)
    return report.samples > 0 and not torch.dl.fallback_stats() and not report.problems


def _show(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    record()
    print(f"written: {NATIVE_CALLS.relative_to(Path.cwd().parent)}")
