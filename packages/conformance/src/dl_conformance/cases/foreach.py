"""Operations on lists of tensors."""

from dl_conformance.vocabulary import calls

CASES = [
    calls(
        "ForeachaddScalar ForeachmulScalar ForeachaddInpScalar ForeachmulInpScalar",
        dict(inputs=["3x41", "5", "-", "0x2"], other=3),
        dict(inputs=["7"], other=2),
    ),
    calls("ForeachmulTensor ForeachmulInpTensor", dict(inputs=["3x41", "5", "-"], other="-")),
]
