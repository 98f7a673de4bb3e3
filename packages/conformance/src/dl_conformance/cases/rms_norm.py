"""Root-mean-square normalization and its gradient."""

from dl_conformance.vocabulary import T, calls, refused

SHAPES = [
    ("5x7", "5x1", "7", [7]),
    ("3x4x6", "3x1x1", "4x6", [4, 6]),
    ("2x3x257", "2x3x1", "257", [257]),
]


def whole(shape):
    values = [3, -2, 5, 1, 0, -7, 4, 2, -1, 6, -3]
    return T(shape, values=values)


CASES = [
    calls(
        "RMSNorm",
        *(dict(input=x, weight=w, bias=w, normalized_shape=n, eps=1e-3) for x, _, w, n in SHAPES),
        dict(input="5x7", weight=None, bias=None, normalized_shape=[7], eps=1e-3),
    ),
    calls(
        "RMSNormBackward",
        *(
            dict(
                grad_output=x,
                input=x,
                weight=w,
                bias=w,
                inv_rms=T(m, low=0.5, high=2),
                normalized_shape=n,
                eps=1e-3,
            )
            for x, m, w, n in SHAPES
        ),
        *(
            dict(
                grad_output="5x7",
                input="5x7",
                weight=None,
                bias=None,
                inv_rms=T("5x1", low=0.5, high=2),
                normalized_shape=[7],
                eps=1e-3,
                **absent,
            )
            for absent in ({}, dict(grad_bias=None))
        ),
    ),
    calls(
        "RootMeanSquareNormInp",
        *(dict(inoutput=x, scale=w, eps=1e-5) for x, w in (("7x33", "33"), ("2x3x257", "257"))),
    ),
    calls(
        "FusedAddRootMeanSquareNormInp",
        # Integers, so that the sums are exact in every dtype.
        *(
            dict(inoutput=whole(x), residual=whole(x), bias=b and whole(b), scale=w, eps=1e-5)
            for x, b, w in (("7x33", "33", "33"), ("2x3x64", None, "64"))
        ),
    ),
    refused(
        "RMSNorm",
        dict(input="5x7", weight="7", bias="7", normalized_shape=[7], eps=0.001),
        dict(inv_rms="5x2"),
        dict(input="5x7x1"),
        dict(input="6x7"),
        dict(weight="8"),
        dict(input=T("5x7", low=0, high=1, dtype="int64")),
    ),
    refused(
        "RMSNorm",
        dict(input="3x4x6", weight="4x6", bias="4x6", normalized_shape=[4, 6], eps=0.001),
        dict(normalized_shape=[4, 6, 4, 6]),
    ),
    refused(
        "RMSNormBackward",
        dict(
            grad_output="5x7",
            input="5x7",
            weight="7",
            bias="7",
            inv_rms=T("5x1", low=0.5, high=2),
            normalized_shape=[7],
            eps=0.001,
        ),
        dict(grad_output="5x7x1"),
        dict(grad_input="5"),
    ),
    refused(
        "RootMeanSquareNormInp",
        dict(inoutput="7x33", scale="33", eps=1e-05),
        dict(inoutput="-"),
    ),
    refused(
        "FusedAddRootMeanSquareNormInp",
        dict(
            inoutput=T("7x33", values=[3, -2, 5, 1, 0, -7, 4, 2, -1, 6, -3]),
            residual=T("7x33", values=[3, -2, 5, 1, 0, -7, 4, 2, -1, 6, -3]),
            bias=T("33", values=[3, -2, 5, 1, 0, -7, 4, 2, -1, 6, -3]),
            scale="33",
            eps=1e-05,
        ),
        dict(inoutput=T("7x33x1", values=[3, -2, 5, 1, 0, -7, 4, 2, -1, 6, -3])),
    ),
]
