"""Operators that libraries add to a vendor, called by this host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor, VendorLoadError, load_vendor
from diopi_proto.added import AddedLibrary
from diopi_proto.trial import try_library
from diopi_proto.vendorbuild.rules import OPERATORS_SYMBOL

Build = Callable[..., Path]

BROKEN = r"^\[diopiRelu\] the rectifier is broken \(diopiErrorOccurred"
"""Error of the fixture's own operator."""


def added(build: Build, mark: int) -> AddedLibrary:
    path = build("added.c", f"-DMARK={mark}", exports=(OPERATORS_SYMBOL,))
    return AddedLibrary(f"m{mark}", str(path), f"m{mark} of dl-m{mark} 1.0")


def relu(vendor: Vendor, count: int) -> list[float]:
    out = vendor.empty((count,))
    vendor.op.diopiRelu(out, vendor.tensor(np.full(count, -1, np.float32)))
    return list(out.numpy())


def test_libraries_are_called_in_their_order_and_then_the_vendor(
    build: Build, library: Path
) -> None:
    with load_vendor(library, added=[added(build, 20), added(build, 10)]) as vendor:
        assert relu(vendor, 2) == [19, 19]
        with pytest.raises(OperatorError, match=BROKEN):
            relu(vendor, 5)
        counts = [(x.library.name, x.calls, x.declined) for x in vendor.added_operators()[2:]]
    assert counts == [("m20", 1, 1), ("m10", 0, 1)]


def test_an_error_has_the_words_and_the_name_of_the_library(build: Build, library: Path) -> None:
    with load_vendor(library, added=[added(build, 1)]) as vendor:
        with pytest.raises(OperatorError, match=r"only one to four .* added by m1 of dl-m1 1\.0"):
            relu(vendor, 0)
        assert relu(vendor, 1) == [0]


def test_instances_of_one_vendor_have_their_own_libraries(build: Build, library: Path) -> None:
    with load_vendor(library, added=[added(build, 7)]) as first, load_vendor(library) as second:
        assert relu(first, 1) == [6]
        with pytest.raises(OperatorError, match=BROKEN):
            relu(second, 1)
        assert second.added_operators() == []


def test_a_trial_lists_the_operators(build: Build) -> None:
    trial = try_library(added(build, 1).path, added_to="fixture")
    assert trial.ok and list(trial.operators) == ["diopiRelu"] and trial.mismatched == []


def test_a_vendor_library_adds_nothing(library: Path) -> None:
    with pytest.raises(VendorLoadError, match="does not export dl_operators_v1"):
        load_vendor(library, added=[AddedLibrary("x", str(library), "x of dl-x 1.0")])
