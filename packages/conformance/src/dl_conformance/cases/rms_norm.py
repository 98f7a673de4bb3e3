"""Root-mean-square normalization and its gradient."""

from dl_conformance.vocabulary import T, calls

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
    ),
    calls(
        "RootMeanSquareNormInp",
        *(dict(inoutput=x, scale=w, eps=1e-5) for x, w in (("7x33", "33"), ("2x3x257", "257"))),
    ),
    calls(
        "FusedAddRootMeanSquareNormInp",
        # Integers, whose sums every dtype stores exactly.
        *(
            dict(inoutput=whole(x), residual=whole(x), bias=b and whole(b), scale=w, eps=1e-5)
            for x, b, w in (("7x33", "33", "33"), ("2x3x64", None, "64"))
        ),
    ),
]
