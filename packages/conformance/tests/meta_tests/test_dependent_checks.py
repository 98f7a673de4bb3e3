"""Checks that rely on others see the outcome that the report shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from diopi_proto import Vendor
from dl_conformance.checks import check as module
from dl_conformance.checks.check import WrongError, check, check_outcome, checks
from dl_conformance.target import of_vendor


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    with of_vendor("cpu")[0].load() as loaded:
        yield loaded


def test_a_race_that_shows_once_is_reported(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the second check is skipped because of a failure that no line of the report has."""
    known = checks()
    monkeypatch.setattr(module, "_CHECKS", {})
    runs = iter([False, True, True])

    @check("a race shows in every run but the first")
    def race(_: Vendor) -> None:
        if next(runs):
            raise WrongError("the race")

    @check("a check relies on it", after=("a race shows in every run but the first",))
    def dependent(_: Vendor) -> None:
        pass

    for name, run in module._CHECKS.items():
        monkeypatch.setitem(known, name, run)
    statuses = [check_outcome(vendor, name).status for name in module._CHECKS]
    assert statuses == ["passed", "passed"]
