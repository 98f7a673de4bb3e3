"""Masks of point-wise spatial attention."""

from dl_conformance.vocabulary import T, calls, refused

EACH = [
    dict(
        num_=2,
        h_feature=3,
        w_feature=4,
        h_mask=5,
        w_mask=3,
        half_h_mask=2,
        half_w_mask=1,
        psa_type=way,
    )
    for way in (0, 1)
]
MASKS, MAP = "2x15x3x4", "2x12x3x4"
LAYOUTS = ("transposed", "strided", "offset")

CASES = [
    calls("PsamaskMmcv", *(dict(output=MAP, input=MASKS, **x) for x in EACH), layouts=LAYOUTS),
    calls(
        "PsamaskBackwardMmcv",
        *(dict(grad_input=MASKS, grad_output=MAP, **x) for x in EACH),
        layouts=LAYOUTS,
    ),
    refused(
        "PsamaskMmcv",
        dict(
            output="2x12x3x4",
            input="2x15x3x4",
            num_=2,
            h_feature=3,
            w_feature=4,
            h_mask=5,
            w_mask=3,
            half_h_mask=2,
            half_w_mask=1,
            psa_type=0,
        ),
        dict(input="2x15x3x4x1"),
        dict(input="2x16x3x4"),
        dict(h_feature=-1),
        dict(w_feature=-1),
        dict(h_mask=-1),
        dict(output="2x12x3x4x1"),
        dict(input=T("2x15x3x4", low=0, high=1, dtype="int64")),
    ),
    refused(
        "PsamaskBackwardMmcv",
        dict(
            grad_input="2x15x3x4",
            grad_output="2x12x3x4",
            num_=2,
            h_feature=3,
            w_feature=4,
            h_mask=5,
            w_mask=3,
            half_h_mask=2,
            half_w_mask=1,
            psa_type=0,
        ),
        dict(grad_input="2x15x3x4x1"),
    ),
]
