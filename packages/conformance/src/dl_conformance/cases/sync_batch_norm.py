"""The steps of synchronized batch normalization."""

from dl_conformance.vocabulary import T, calls, refused

SHAPES = [("3x4x5", "4"), ("2x3x130", "3"), ("1x1x2", "1")]

BATCHES = [("3x4x5", "4"), ("2x3x13x11", "3"), ("9x5", "5"), ("2x2x3x2x4", "2")]


def positive(shape):
    return T(shape, low=0.5, high=2)


CASES = [
    calls("SyncBnMeanMmcv", *(dict(input=x) for x, _ in SHAPES)),
    calls("SyncBnVarMmcv", *(dict(input=x, mean=c) for x, c in SHAPES)),
    calls(
        "SyncBnOutputMmcv",
        *(
            dict(
                running_mean=c if running else None,
                running_var=positive(c) if running else None,
                input=x,
                mean=c,
                var=positive(c),
                weight=c,
                bias=c,
                eps=1e-5,
                momentum=0.25,
                group_size=2,
            )
            for x, c in SHAPES
            for running in (True, False)
        ),
    ),
    calls("SyncBnBackwardParamMmcv", *(dict(grad_output=x, norm=x) for x, _ in SHAPES)),
    calls(
        "SyncBnBackwardDataMmcv",
        *(
            dict(grad_output=x, weight=c, grad_weight=c, grad_bias=c, norm=x, std=positive(c))
            for x, c in SHAPES
        ),
    ),
    calls("BatchNormStats", *(dict(input=x, eps=1e-3) for x, _ in BATCHES)),
    calls(
        "BatchNormGatherStatsWithCounts",
        *(
            dict(
                input="2x3",
                mean_all=f"{p}x5",
                invstd_all=positive(f"{p}x5"),
                running_mean="5" if running else None,
                running_var=positive("5") if running else None,
                momentum=0.25,
                eps=1e-3,
                counts=T((p,), values=[12, 30, 7][:p], plain=True),
            )
            for p in (3, 1)
            for running in (True, False)
        ),
    ),
    calls(
        "BatchNormBackwardReduce",
        *(
            dict(
                grad_out=x,
                input=x,
                mean=c,
                invstd=positive(c),
                weight=c,
                input_g=True,
                weight_g=True,
                bias_g=True,
            )
            for x, c in BATCHES
        ),
        dict(
            grad_out="3x4x5",
            input="3x4x5",
            mean="4",
            invstd=positive("4"),
            weight=None,
            input_g=True,
            weight_g=False,
            bias_g=False,
            grad_weight=None,
            grad_bias=None,
        ),
    ),
    calls(
        "BatchNormBackwardElemt",
        *(
            dict(
                grad_out=x,
                input=x,
                mean=c,
                invstd=positive(c),
                weight=w,
                sum_dy=c,
                sum_dy_xmu=c,
                count=T("2", values=[12, 30], plain=True),
            )
            for x, c in BATCHES
            for w in (c, None)
        ),
    ),
    calls(
        "BatchNormElemt",
        *(
            dict(input=x, weight=w, bias=w, mean=c, invstd=positive(c), eps=1e-3)
            for x, c in BATCHES
            for w in (c, None)
        ),
    ),
    refused(
        "SyncBnMeanMmcv",
        dict(input="3x4x5"),
        dict(mean="4x1"),
        dict(input="3x4x5x1"),
        dict(mean=T("4", dtype="int64")),
    ),
    refused(
        "SyncBnVarMmcv",
        dict(input="3x4x5", mean="4"),
        dict(var="4x1"),
    ),
    refused(
        "SyncBnOutputMmcv",
        dict(
            running_mean="4",
            running_var=T("4", low=0.5, high=2),
            input="3x4x5",
            mean="4",
            var=T("4", low=0.5, high=2),
            weight="4",
            bias="4",
            eps=1e-05,
            momentum=0.25,
            group_size=2,
        ),
        dict(norm="3x4x5x1"),
        dict(input="3x4x6"),
        dict(group_size=-1),
    ),
    refused(
        "SyncBnBackwardParamMmcv",
        dict(grad_output="3x4x5", norm="3x4x5"),
        dict(grad_weight="4x1"),
    ),
    refused(
        "SyncBnBackwardDataMmcv",
        dict(
            grad_output="3x4x5",
            weight="4",
            grad_weight="4",
            grad_bias="4",
            norm="3x4x5",
            std=T("4", low=0.5, high=2),
        ),
        dict(grad_input="3x4x5x1"),
    ),
    refused(
        "BatchNormStats",
        dict(input="3x4x5", eps=0.001),
        dict(input="-"),
    ),
    refused(
        "BatchNormGatherStatsWithCounts",
        dict(
            input="2x3",
            mean_all="3x5",
            invstd_all=T("3x5", low=0.5, high=2),
            running_mean="5",
            running_var=T("5", low=0.5, high=2),
            momentum=0.25,
            eps=0.001,
            counts=T("3", values=[12, 30, 7], plain=True),
        ),
        dict(mean_all="3x5x1"),
        dict(mean_all="3x6"),
        dict(counts=T("3x1", values=[12, 30, 7], plain=True)),
    ),
    refused(
        "BatchNormBackwardReduce",
        dict(
            grad_out="3x4x5",
            input="3x4x5",
            mean="4",
            invstd=T("4", low=0.5, high=2),
            weight="4",
            input_g=True,
            weight_g=True,
            bias_g=True,
        ),
        dict(grad_out="3x4x5x1"),
    ),
    refused(
        "BatchNormBackwardElemt",
        dict(
            grad_out="3x4x5",
            input="3x4x5",
            mean="4",
            invstd=T("4", low=0.5, high=2),
            weight="4",
            sum_dy="4",
            sum_dy_xmu="4",
            count=T("2", values=[12, 30], plain=True),
        ),
        dict(grad_input="3x4x5x1"),
    ),
    refused(
        "BatchNormElemt",
        dict(
            input="3x4x5", weight="4", bias="4", mean="4", invstd=T("4", low=0.5, high=2), eps=0.001
        ),
        dict(input="3x4x5x1"),
    ),
]
