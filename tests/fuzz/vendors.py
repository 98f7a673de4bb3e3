"""A vendor that returns arbitrary wrong answers, on the host without torch."""

from __future__ import annotations

import contextlib
import gc
import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
from core.stub_vendor import StubVendor

from diopi_proto import DiopiError, Vendor, load_vendor

from .kind import Case, Kind, WrongError, check_shown

LIES = "FUZZ_LIES"
_X = np.arange(6, dtype=np.float32).reshape(2, 3)


def prepare(folder: Path) -> None:
    """Build the vendor ``stub`` as a wheel; other kinds use it too."""
    StubVendor(folder).compile(Path(__file__).with_name("liar.cpp"))


LONGEST_DETAILS = 1 << 16
"""The limit in dl/checked_status.hpp: a compiler's log may be one line."""


def check_error(error: DiopiError) -> None:
    """Check that the operation is one line; details, such as a compiler's, are separate lines."""
    message, *details = str(error).split("\n")
    check_shown(message)
    for line in details:
        check_shown(line, LONGEST_DETAILS)


def begin(folder: Path, own: Path) -> Case:
    library = folder / "libstub.so"

    def case(choose: random.Random) -> str:
        os.environ[LIES] = str(choose.randrange(1, 1 << 40))
        try:
            vendor = load_vendor(library)
        except DiopiError as error:
            check_error(error)
            return "refused"
        failed = 0
        for action in ACTIONS:
            try:
                action(vendor)
            except DiopiError as error:
                failed += 1
                check_error(error)
        with contextlib.suppress(DiopiError):
            vendor.close()
        del vendor
        gc.collect(0)
        return "used, some failed" if failed else "used"

    return case


def _memory(vendor: Vendor) -> None:
    tensor = vendor.tensor(_X)
    if tensor.numpy().tolist() != _X.tolist():
        raise WrongError("a tensor has other contents")
    tensor.copy_from(_X + 1)
    vendor.empty((1 << 40,))


def _streams(vendor: Vendor) -> None:
    stream, event = vendor.stream(), vendor.event(timing=True)
    event.record(stream)
    stream.wait_event(event)
    stream.query(), event.query(), stream.synchronize(), event.synchronize()
    event.elapsed_since(event)


def _properties(vendor: Vendor) -> None:
    found = vendor.properties(0)
    for text in (found.name, found.architecture, vendor.name, vendor.version):
        check_shown(text)
    for name in (*vendor.unknown_operators, *vendor.mismatched):
        check_shown(name)


def _operators(vendor: Vendor) -> None:
    x = vendor.empty((2, 3))
    vendor.op.Relu(x, x)


ACTIONS: tuple[Callable[[Vendor], object], ...] = (
    lambda vendor: vendor.present,
    lambda vendor: vendor.device_count,
    _properties,
    lambda vendor: vendor.memory_info(0),
    _memory,
    _streams,
    _operators,
    lambda vendor: vendor.synchronize(0),
)

KIND = Kind("vendors", 5000, begin, prepare)
