"""Device-generic tests run on dl:0, whichever vendor serves it, and are compared with its known
failures.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ..opinfo.fixtures import no_stack_walks, one_thread, time_limit
from ..opinfo.known_failures import Key, cause_of
from ..vendor_lists import VendorLists
from .case import Case, observe
from .journal import COMPARED, PROBLEM
from .known_failures import CRASHES, NAME, SOME_PROCESSORS, known_on

__all__ = ["no_stack_walks", "one_thread", "time_limit"]

Record = Callable[[str, object], None]


def judge(case: Case, known: dict[Key, str], record: Record, device: str = "dl") -> None:
    """Run a case: an unlisted problem fails, and so does a listed one that no longer occurs."""
    report = observe(case, device)
    record(PROBLEM, report.problems[0] if report.problems else None)
    record(COMPARED, report.samples - report.refused)
    cause = cause_of(known, *case.key)
    if cause is None:
        assert not report.problems, (
            f"{report.text()}\nif it cannot be mended, add it to {NAME} with its cause: "
            f"{' | '.join(case.key)} | CAUSE"
        )
        return
    assert report.problems or cause.startswith(SOME_PROCESSORS), (
        f"{' | '.join(case.key)} passes now: remove it from its list (listed cause: {cause})"
    )


@pytest.fixture(scope="session")
def known(vendor: str, lists: VendorLists) -> dict[Key, str]:
    return known_on(vendor, lists)


@pytest.fixture
def check_case(
    known: dict[Key, str], record_property: Record, pytestconfig: pytest.Config
) -> Callable[[Case], None]:
    """Fixture that judges a case; known crashes run only with a journal."""
    isolated = pytestconfig.getoption("--device-journal", default=None)

    def check(case: Case) -> None:
        cause = cause_of(known, *case.key) or ""
        if cause.startswith(CRASHES) and not isolated:
            pytest.skip(cause)
        judge(case, known, record_property)

    return check
