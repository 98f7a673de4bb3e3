"""Cases of the conformance suite, for tests of operator families."""

from __future__ import annotations

from diopi_proto import Vendor
from dl_conformance.catalog import cases_of
from dl_conformance.execution import run


def check_cases(vendor: Vendor, operator: str, *, models: bool = True) -> None:
    """Fail unless all cases of an operator pass or have nothing to check.

    :param models: include the calls of models, which are large for some operators.
    """
    cases = [case for case in cases_of(operator) if models or not case.models]
    outcomes = [run(vendor, case) for case in cases]
    wrong = [
        f"{x.name}: {x.status} {x.cause} {x.detail}"
        for x in outcomes
        if x.status not in ("passed", "unchecked")
    ]
    assert not wrong, "\n".join(wrong)
    assert any(x.status == "passed" for x in outcomes)
