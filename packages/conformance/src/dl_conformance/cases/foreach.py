"""Operations on lists of tensors."""

from dl_conformance.vocabulary import T, calls, refused

CASES = [
    calls(
        "ForeachaddScalar ForeachmulScalar ForeachaddInpScalar ForeachmulInpScalar",
        dict(inputs=["3x41", "5", "-", "0x2"], other=3),
        dict(inputs=["7"], other=2),
    ),
    calls("ForeachmulTensor ForeachmulInpTensor", dict(inputs=["3x41", "5", "-"], other="-")),
    calls(
        "ForeachnormScalar",
        *(dict(inputs=["7x40", "-", "300"], ord=p) for p in (2, 1, 0, 3.5, float("inf"))),
    ),
    refused(
        "ForeachaddScalar",
        dict(inputs=["7"], other=2),
        dict(inputs=["7x1"]),
        dict(inputs=[T("7", dtype="int64")]),
    ),
    refused(
        "ForeachmulScalar",
        dict(inputs=["7"], other=2),
        dict(inputs=["7x1"]),
    ),
    refused(
        "ForeachmulTensor",
        dict(inputs=["3x41", "5", "-"], other="-"),
        dict(outs=["3x41", "5", "1"]),
    ),
]
