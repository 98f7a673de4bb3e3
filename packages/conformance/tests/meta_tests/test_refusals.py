"""A refusal passes only if the library computes the valid call and refuses the invalid one, with a
reason and without writing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from diopi_proto import ArgumentError, OperatorError, Vendor
from diopi_proto.host.cabi import constants
from dl_conformance.case import Case
from dl_conformance.catalog import all_cases, case_modules, case_named
from dl_conformance.execution import run
from dl_conformance.target import of_vendor
from dl_conformance.vocabulary import Refused
from faults import Call, Fault, Faulty, nothing, outputs

WRONG = "diopiMm[float32-refused-input 5x8]"
IN_DATA = "diopiGather[float32-refused-index 5x3 int64 of -9]"
FAILED, DECLINED = constants.diopiErrorOccurred, constants.diopiDtypeNotSupported


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    with of_vendor("cpu")[0].load() as loaded:
        yield loaded


def error(call: Call, reason: str, code: int = FAILED) -> OperatorError:
    return OperatorError(
        f"[{call.operator}] {reason} (code {code}; vendor faulty, device 0)",
        code=code,
        operator=call.operator,
        vendor="faulty",
        reason=reason,
    )


def refused(change: Callable[[Call, OperatorError], Any]) -> Fault:
    """Compute valid calls, and apply a fault to invalid ones."""

    def fault(call: Call) -> Any:
        try:
            return call.right()
        except OperatorError as reason:
            return change(call, reason)

    return fault


def raised(reason: str, code: int = FAILED) -> Fault:
    def change(call: Call, _: OperatorError) -> Any:
        raise error(call, reason, code)

    return refused(change)


def writes_first(call: Call, reason: OperatorError) -> Any:
    for tensor in outputs(call):
        tensor.copy_from(np.zeros_like(tensor.numpy()))
    raise reason


def changes_its_input(call: Call, reason: OperatorError) -> Any:
    call.change("input", lambda x: x + 1)
    raise reason


def refuses_all(call: Call) -> Any:
    raise error(call, "no")


def host_refuses(call: Call, reason: OperatorError) -> Any:
    raise ArgumentError("a value does not fit", operator=call.operator)


FAULTS = {
    "success without a result": (nothing, "not refused"),
    "success where the call is wrong": (refused(lambda call, reason: None), "not refused"),
    "everything is refused": (refuses_all, "returned an error"),
    "no reason": (raised(""), "refused without a reason"),
    "an output is outputs first": (refused(writes_first), "wrong value"),
    "an input is changed": (refused(changes_its_input), "wrong value"),
    "nothing was called": (refused(host_refuses), "ArgumentError"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_caught(vendor: Vendor, fault: str) -> None:
    seeded, cause = FAULTS[fault]
    outcome = run(Faulty(vendor, {"diopiMm": seeded}), case_named(WRONG))
    assert (outcome.status, outcome.cause) == ("failed", cause), outcome


def test_outputs_mean_nothing_where_data_is_wrong(vendor: Vendor) -> None:
    def status(change: Callable[[Call, OperatorError], Any]) -> str:
        return run(Faulty(vendor, {"diopiGather": refused(change)}), case_named(IN_DATA)).status

    assert status(writes_first) == "passed"
    assert status(changes_its_input) == "failed"
    assert status(lambda call, reason: None) == "failed"


def test_declined_is_refused_where_the_right_call_is_computed(vendor: Vendor) -> None:
    seeded = Faulty(vendor, {"diopiMm": raised("", DECLINED)})
    assert run(seeded, case_named(WRONG)).status == "passed"


def test_library_that_declines_the_dtype_is_unsupported(vendor: Vendor) -> None:
    def declines(call: Call) -> Any:
        raise error(call, "", DECLINED)

    assert run(Faulty(vendor, {"diopiMm": declines}), case_named(WRONG)).status == "unsupported"


@pytest.fixture(scope="module")
def refusals() -> list[Case]:
    found = [case for case in all_cases() if case.refusal is not None]
    assert len(found) > 300
    return found


def test_names_are_unique() -> None:
    declared = [
        case.name
        for module in case_modules()
        for calls in import_module(f"dl_conformance.cases.{module}").CASES
        if isinstance(calls, Refused)
        for case in calls.cases()
    ]
    assert sorted(declared) == sorted(set(declared))


def test_nothing_useful_passes_none(vendor: Vendor, refusals: list[Case]) -> None:
    for fault in (nothing, refuses_all):
        outcomes = [run(Faulty(vendor, {case.operator: fault}), case) for case in refusals]
        assert {x.status for x in outcomes} == {"failed"}
