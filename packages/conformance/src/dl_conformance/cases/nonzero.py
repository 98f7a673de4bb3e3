"""Elements that are nonzero or that a mask selects."""

from dl_conformance.vocabulary import T, calls, refused

CASES = [
    calls(
        "Nonzero",
        dict(input=T("5x7", low=0, high=1)),
        dict(input=T("12", values=[0, 0, 2, 0, 1])),
        dict(input=T("3x4", values=[0])),
        dict(input="2x3x4x2"),
    ),
    calls(
        "MaskedSelect",
        dict(input="5x7", mask=T("5x7", dtype="bool")),
        dict(input="5x7", mask=T("7", dtype="uint8", low=0, high=1)),
        dict(input="3x4", mask=T("3x4", values=[0], dtype="bool")),
        edges="extreme",
    ),
    calls(
        "MaskedScatter",
        dict(input="5x7", mask=T("5x7", dtype="bool"), source="5x7"),
        dict(input="5x7", mask=T("7", values=[1, 0, 0, 1, 1, 0, 0], dtype="bool"), source="15"),
        dict(input="3x4", mask=T("3x4", values=[0], dtype="bool"), source="0"),
        dict(input="3x4", mask=T("3x4", values=[1], dtype="bool"), source="2x7"),
        dict(input="4x5", mask=T("4x1", values=[1, 0, 1, 1], dtype="bool"), source="5x6"),
        dict(input="4x5", mask=T("-", values=[1], dtype="bool"), source="5x6"),
        edges="extreme",
    ),
    calls(
        "MaskedSelectBackward",
        dict(
            grad_output="9",
            input="3x5",
            mask=T("5", values=[1, 0, 1, 0, 1], dtype="bool", plain=True),
        ),
        dict(grad_output="0", input="3x4", mask=T("3x4", values=[0], dtype="bool")),
        dict(grad_output="12", input="3x4", mask=T("3x4", values=[1], dtype="bool")),
        *(
            dict(grad_output=g, input="4x5", mask=T(m, values=v, dtype=k))
            for g, m, v in (("15", "4x1", [1, 0, 1, 1]), ("20", "-", [1]))
            for k in ("bool", "uint8")
        ),
        dict(grad_output="0", input="4x0", mask=T("2x4x0", dtype="bool")),
        dict(grad_output="0", input="4x1", mask=T("4x0", dtype="bool")),
        dict(grad_output="0", input="-", mask=T("0", dtype="bool")),
    ),
    refused(
        "MaskedSelect",
        dict(input="5x7", mask=T("5x7", dtype="bool")),
        dict(input="5x7x1"),
        dict(mask=T("5x7", low=0, high=1, dtype="int64")),
    ),
    refused(
        "MaskedScatter",
        dict(input="5x7", mask=T("5x7", dtype="bool"), source="5x7"),
        dict(input="5x7x1"),
        dict(mask=T("5x7x1", dtype="bool")),
        # The required number of elements depends on the elements of the mask.
        data=[dict(source="5")],
    ),
    refused(
        "MaskedSelectBackward",
        dict(
            grad_output="9",
            input="3x5",
            mask=T("5", values=[1, 0, 1, 0, 1], dtype="bool", plain=True),
        ),
        dict(grad_input="3x5x1"),
    ),
]
