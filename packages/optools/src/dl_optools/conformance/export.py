"""Export of a bundle as a file of cases for the conformance suite."""

from __future__ import annotations

from pathlib import Path

import torch

from dl_conformance.captured import case_of, write_cases
from dl_conformance.execution import judge
from dl_core.files import check_free, write
from dl_optools.bundle.errors import BundleError
from dl_optools.bundle.placement import Placement
from dl_optools.bundle.reader import Bundle
from dl_optools.conformance.recording import Found, Recording
from dl_optools.conformance.tensors import to_stored
from dl_optools.replay.run import Outcome, run

_CPU = torch.device("cpu")


def to_conformance(bundle: Bundle, output: Path, *, force: bool = False) -> list[str]:
    """Write the contract calls behind a captured call, and return messages for the user.

    The call runs on the CPU, forward and, if its gradients were captured, backward. The overloads
    that it calls are looked up in dl-core's table.

    :param force: replace an existing file.
    :raises BundleError: no part of the call is served by a contract operator.
    :raises OutputError: the file exists, or cannot be written.
    """
    check_free([output], force)
    document = bundle.document
    source = f"{document.operator} captured on {document.device}, call {document.program['call']}"
    recording = Recording(source)
    outcome = run(bundle, _CPU, within=lambda: recording)
    left = [
        f"left out: {why}" + (f" ({n} times)" if n > 1 else "") for why, n in recording.left.items()
    ]
    if not recording.found:
        what = "; ".join(left) or "it calls no operator"
        raise BundleError(f"[bundle] {bundle.path}: no operator of the contract serves it: {what}")
    write(output, lambda made: write_cases(made, [x.call for x in recording.found]), force)
    lines = []
    for found in recording.found:
        lines.append(f"{found.overload} is served by {found.call.operator} {found.note}".rstrip())
        lines += _check_device_results(bundle, outcome, found)
    return [*lines, *left]


def _check_device_results(bundle: Bundle, outcome: Outcome, found: Found) -> list[str]:
    """Describe errors in the device's results, if they are the results of this call."""
    placed = Placement(bundle, _CPU, gradients=False)
    got = {}
    for name, tensor in found.results.items():
        for mine, record in zip(outcome.results, bundle.document.results, strict=False):
            if mine.data_ptr() == tensor.data_ptr() and mine.numel() == tensor.numel():
                got[name] = to_stored(placed.tensor(record.tensor).reshape(tensor.shape))
    if not got:
        return []
    faults, _ = judge(case_of(found.call), got)
    device = bundle.document.device
    if not faults:
        return [f"  the results of {device} are right"]
    lines = (f"    {x}" for fault in faults for x in fault.message.split("\n"))
    return [f"  the results of {device} are wrong:", *lines]
