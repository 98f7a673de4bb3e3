"""Attention at learned positions of feature maps of several sizes."""

from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset")
MAPS = dict(
    spatial_shapes=T("2x2", values=[3, 2, 1, 2], plain=True),
    level_start_index=T("2", values=[0, 6], plain=True),
    im2col_step=64,
)
# No sample is exactly on a cell, where the derivative does not exist.
PLACES = T(
    "1x2x1x2x2x2", values=[0.21, 0.34, 0.62, 0.47, 0.84, 0.12, 0.4, 0.9, 0.15, 0.55], plain=True
)

CASES = [
    calls(
        "MsDeformAttnMmcv",
        dict(
            value="2x8x2x3",
            sampling_loc=T("2x2x2x2x2x2", low=-0.1, high=1.1),
            attn_weight="2x2x2x2x2",
            **MAPS,
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "MsDeformAttnBackwardMmcv",
        dict(
            grad_value="1x8x1x2",
            grad_sampling_loc="1x2x1x2x2x2",
            grad_attn_weight="1x2x1x2x2",
            value="1x8x1x2",
            sampling_loc=PLACES,
            attn_weight="1x2x1x2x2",
            grad_output="1x2x2",
            **MAPS,
        ),
        layouts=LAYOUTS,
    ),
    refused(
        "MsDeformAttnMmcv",
        dict(
            value="2x8x2x3",
            sampling_loc=T("2x2x2x2x2x2", low=-0.1, high=1.1),
            attn_weight="2x2x2x2x2",
            spatial_shapes=T("2x2", values=[3, 2, 1, 2], plain=True),
            level_start_index=T("2", values=[0, 6], plain=True),
            im2col_step=64,
        ),
        dict(value="2x8x2x3x1"),
        dict(value="3x8x2x3"),
        dict(spatial_shapes=T("2x2x1", values=[3, 2, 1, 2], plain=True)),
        dict(spatial_shapes=T("3x2", values=[3, 2, 1, 2], plain=True)),
        dict(sampling_loc=T("2x3x2x2x2x2", low=-0.1, high=1.1)),
        dict(value=T("2x8x2x3", low=0, high=1, dtype="int64")),
        data=[
            dict(level_start_index=T("2", values=[-9], plain=True)),
            dict(spatial_shapes=T("2x2", values=[-9], plain=True)),
        ],
    ),
    refused(
        "MsDeformAttnBackwardMmcv",
        dict(
            grad_value="1x8x1x2",
            grad_sampling_loc="1x2x1x2x2x2",
            grad_attn_weight="1x2x1x2x2",
            value="1x8x1x2",
            sampling_loc=T("1x2x1x2x2x2", plain=True),
            attn_weight="1x2x1x2x2",
            grad_output="1x2x2",
            spatial_shapes=T("2x2", values=[3, 2, 1, 2], plain=True),
            level_start_index=T("2", values=[0, 6], plain=True),
            im2col_step=64,
        ),
        dict(grad_value="1x8x1x2x1"),
        dict(grad_output="1x2x2x1"),
        data=[
            dict(spatial_shapes=T("2x2", values=[-9], plain=True)),
            dict(level_start_index=T("2", values=[-9], plain=True)),
        ],
    ),
]
