"""Vector norms."""

from dl_conformance.vocabulary import T, calls, refused

ORDERS = (2, 1, 0, 3, 2.5, float("inf"))

CASES = [
    calls(
        "Norm",
        *(dict(input="5x7x3", p=p, dim=[1]) for p in ORDERS),
        dict(input="5x7", p=2, dim=None),
    ),
    calls(
        "LinalgVecNorm",
        *(dict(input="5x7x3", ord=p, dim=[0, 2], keepdim=False) for p in ORDERS),
        dict(input="5x7", ord=2, dim=None, keepdim=False),
        dict(input="5x7", ord=2, dim=[1], keepdim=True),
    ),
    calls(
        "NormBackward",
        *(
            dict(
                grad_output=g,
                self=T("3x4x5", values=[1, -2, 4, -8, 16, 3, -5, 6, -7, 9]),
                norm=T(g, values=[16]),
                dim=d,
                p=p,
            )
            for g, d in (("3x5", [1]), ("-", None), ("4", [0, -1]))
            for p in (2, 1, 0, 3, None)
        ),
        # The absolute values of the smallest elements of each line are 1.
        dict(
            grad_output="3x4",
            self=T("3x4x5", values=[1, -2, 4, -8, 16, 3, -1, 6, -7, 1]),
            norm=T("3x4", values=[1]),
            dim=[2],
            p=-float("inf"),
        ),
        # The absolute values of the largest elements of each line are 16.
        dict(
            grad_output="3x4",
            self=T("3x4x5", values=[1, -2, 4, -8, 16, 3, -16, 6, -7, 16]),
            norm=T("3x4", values=[16]),
            dim=[2],
            p=float("inf"),
        ),
        dtypes="float16 bfloat16 float32 float64",
    ),
    calls(
        "Normalize",
        *(
            dict(input=T("3x4x5", low=0.5, high=2), p=p, axis=a, eps=e)
            for p, a, e in (
                (2.0, 1, 1e-12),
                (1.0, -1, 1e-12),
                (3.0, 0, 1e-12),
                (float("inf"), 1, 1e-12),
                (-float("inf"), -1, 1e-12),
                (0.0, 1, 1e-12),
                (2.0, 2, 100.0),
                (float("inf"), 0, 100.0),
            )
        ),
        dict(input="2x300", p=2.0, axis=1, eps=1e-12),
    ),
    calls(
        "NormalizeBackward",
        *(
            dict(grad_output="3x4x5", input=T("3x4x5", low=0.5, high=2), p=p, axis=a, eps=e)
            for p, a, e in (
                (2.0, 1, 1e-12),
                (1.0, -1, 1e-12),
                (3.0, 0, 1e-12),
                (float("inf"), 1, 1e-12),
                (-float("inf"), -1, 1e-12),
                (0.0, 1, 1e-12),
                (2.0, 2, 100.0),
            )
        ),
    ),
    refused(
        "Norm",
        dict(input="5x7x3", p=2, dim=[1]),
        dict(input="5x7x3x1"),
        dict(input="5x7"),
        dict(dim=[1, 1]),
        dict(dim=[99]),
        dict(input=T("5x7x3", low=0, high=1, dtype="int64")),
    ),
    refused(
        "LinalgVecNorm",
        dict(input="5x7x3", ord=2, dim=[0, 2], keepdim=False),
        dict(input="5x7x3x1"),
    ),
    refused(
        "NormBackward",
        dict(
            grad_output="3x5",
            self=T("3x4x5", values=[1, -2, 4, -8, 16, 3, -5, 6, -7, 9]),
            norm=T("3x5", values=[16]),
            dim=[1],
            p=2,
        ),
        dict(grad_output="3"),
        dict(grad_input="3x4x5x1"),
    ),
    refused(
        "Normalize",
        dict(input=T("3x4x5", low=0.5, high=2), p=2.0, axis=1, eps=1e-12),
        dict(input=T("3x4x5x1", low=0.5, high=2)),
    ),
    refused(
        "NormalizeBackward",
        dict(grad_output="3x4x5", input=T("3x4x5", low=0.5, high=2), p=2.0, axis=1, eps=1e-12),
        dict(grad_input="3x4x5x1"),
    ),
]
