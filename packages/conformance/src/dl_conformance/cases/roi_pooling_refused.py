"""Calls that the operators of roi_pooling must refuse."""

from dl_conformance.vocabulary import T, refused

CASES = [
    refused(
        "RoiPoolMmcv",
        dict(
            input="2x3x5x4",
            rois=T(
                "4x5",
                values=(1, 0.5, 1, 5.25, 7, 0, -3, 2, 6, 13, 1, 2, 3, 2, 3, 0, 19, 1, 23, 5),
                plain=True,
            ),
            spatial_scale=0.5,
            pooled_height=2,
            pooled_width=3,
        ),
        dict(argmax="4x3x2x3x1"),
        dict(input="2x3x5x4x1"),
        dict(input="2x4x5x4"),
        dict(pooled_height=-1),
        dict(pooled_width=-1),
        dict(
            rois=T(
                "4x5x1",
                values=(1, 0.5, 1, 5.25, 7, 0, -3, 2, 6, 13, 1, 2, 3, 2, 3, 0, 19, 1, 23, 5),
                plain=True,
            )
        ),
        dict(argmax=T("4x3x2x3", dtype="int64")),
        data=[dict(rois=T("4x5", values=[-2.0], plain=True))],
    ),
    refused(
        "RoiPoolBackwardMmcv",
        dict(
            grad_input="2x3x5x4",
            grad_output="4x3x2x3",
            argmax=T("4x3x2x3", low=-1, high=19),
            rois=T(
                "4x5",
                values=(1, 0.5, 1, 5.25, 7, 0, -3, 2, 6, 13, 1, 2, 3, 2, 3, 0, 19, 1, 23, 5),
                plain=True,
            ),
            spatial_scale=0.5,
            pooled_height=2,
            pooled_width=3,
        ),
        dict(argmax=T("4x3x2x3x1", low=-1, high=19)),
        data=[
            dict(grad_input="2x3x5x3"),  # fewer cells than argmax refers to
            dict(rois=T("4x5", values=[-2.0], plain=True)),
            dict(argmax=T("4x3x2x3", values=[-9])),
        ],
    ),
    refused(
        "PrroiPoolMmcv",
        dict(
            input="2x3x5x4",
            rois=T(
                "4x5",
                values=(1, 0.5, 1, 5.25, 7, 0, -3, 2, 6, 13, 1, 2, 3, 2, 3, 0, 19, 1, 23, 5),
                plain=True,
            ),
            spatial_scale=0.5,
            pooled_height=2,
            pooled_width=3,
        ),
        dict(input="2x3x5x4x1"),
        data=[dict(rois=T("4x5", values=[-2.0], plain=True))],
    ),
    refused(
        "PrroiPoolbackwardMmcv",
        dict(
            grad_input="2x3x5x4",
            grad_output="4x3x2x3",
            rois=T(
                "4x5",
                values=(1, 0.5, 1, 5.25, 7, 0, -3, 2, 6, 13, 1, 2, 3, 2, 3, 0, 19, 1, 23, 5),
                plain=True,
            ),
            spatial_scale=0.5,
            pooled_height=2,
            pooled_width=3,
        ),
        dict(grad_input="2x3x5x4x1"),
        data=[dict(rois=T("4x5", values=[-2.0], plain=True))],
    ),
    refused(
        "PrroiPoolCoorBackwardMmcv",
        dict(
            grad_rois="4x5",
            output=T("4x3x2x3", result_of="diopiPrroiPoolMmcv.output"),
            grad_output="4x3x2x3",
            input="2x3x5x4",
            rois=T(
                "4x5",
                values=(1, 0.5, 1, 5.25, 7, 0, -3, 2, 6, 13, 1, 2, 3, 2, 3, 0, 19, 1, 23, 5),
                plain=True,
            ),
            spatial_scale=0.5,
            pooled_height=2,
            pooled_width=3,
        ),
        dict(grad_rois="4x5x1"),
        data=[dict(rois=T("4x5", values=[-2.0], plain=True))],
    ),
    refused(
        "DeformRoiPoolMmcv",
        dict(
            input="2x3x5x4",
            rois=T(
                "4x5",
                values=(1, 0.5, 1, 5.25, 7, 0, -3, 2, 6, 13, 1, 2, 3, 2, 3, 0, 19, 1, 23, 5),
                plain=True,
            ),
            offset=T("4x2x2x3", low=-1.5, high=1.5),
            sampling_ratio=2,
            spatial_scale=0.5,
            gamma=0.125,
            pooled_height=2,
            pooled_width=3,
        ),
        dict(offset=T("4x2x2x3x1", low=-1.5, high=1.5)),
        data=[dict(rois=T("4x5", values=[-2.0], plain=True))],
    ),
    refused(
        "DeformRoiPoolBackwardMmcv",
        dict(
            grad_input="2x3x5x4",
            grad_offset="4x2x2x3",
            grad_output="4x3x2x3",
            input="2x3x5x4",
            rois=T(
                "4x5",
                values=(1, 0.5, 1, 5.25, 7, 0, -3, 2, 6, 13, 1, 2, 3, 2, 3, 0, 19, 1, 23, 5),
                plain=True,
            ),
            offset=T("4x2x2x3", low=-1.5, high=1.5),
            sampling_ratio=2,
            spatial_scale=0.5,
            gamma=0.125,
            pooled_height=2,
            pooled_width=3,
        ),
        dict(grad_offset="4x2x2x3x1"),
        dict(grad_input="2x3x5x5"),
        data=[dict(rois=T("4x5", values=[-2.0], plain=True))],
    ),
]
