"""Run of one case on a library."""

from __future__ import annotations

import math

from diopi_proto import OperatorError, OperatorNotBoundError, Vendor
from diopi_proto.errors import DiopiError
from dl_conformance.case import Case
from dl_conformance.outcome import NOT_IMPLEMENTED, Outcome

from .call import Call
from .inputs import CaseInputs
from .judge import judge_call
from .refusal import DECLINED, check_refusal, words_of


def run(vendor: Vendor, case: Case) -> Outcome:
    """Run a case; the outcome contains any failure of the library."""

    def outcome(status: str, cause: str = "", detail: str = "", worst: float = math.nan) -> Outcome:
        if case.source and status == "failed":
            detail = f"{detail}\ncaptured: {case.source}"
        return Outcome(case.name, case.operator, case.dtype, status, cause, detail, worst)

    if not vendor.operators[case.operator]:
        return outcome("unsupported", NOT_IMPLEMENTED)
    try:
        inputs = CaseInputs(case, getattr(vendor, "adaptor", None))
        expected = inputs.expected()
    except Exception as error:
        if not case.source:
            raise
        # A captured call may be invalid, unlike the suite's own cases.
        message = f"its arguments do not fit together: {type(error).__name__}: {error}"
        return outcome("failed", "invalid call", message)
    if case.source and (mismatch := inputs.shape_mismatch(expected)):
        return outcome("failed", "invalid call", mismatch)
    call = Call(vendor, inputs, expected)
    try:
        if fault := call.prepare():
            return outcome("failed", "wrong value", fault.message)
        results = call.run()
    except OperatorNotBoundError as error:
        return outcome("unsupported", NOT_IMPLEMENTED, str(error))
    except OperatorError as error:
        if error.code in DECLINED:
            return outcome("unsupported", DECLINED[error.code], words_of(error))
        return outcome("failed", "returned an error", str(error))
    except DiopiError as error:
        return outcome("failed", type(error).__name__, str(error))
    if case.refusal is not None:
        cause, detail = check_refusal(call.refused(expected), case.refusal)
        return outcome("failed" if cause else "passed", cause, detail)
    verdict = judge_call(call, expected, results)
    if verdict.faults:
        detail = "\n".join(map(str, verdict.faults))
        return outcome("failed", f"wrong {verdict.faults[0].kind.value}", detail, verdict.worst)
    if verdict.checked == 0:
        return outcome("unchecked", "nothing to check", "", verdict.worst)
    return outcome("passed", "", "", verdict.worst)
