"""The steps of batch normalization over several processes."""

from dl_conformance.vocabulary import T, calls

SHAPES = [("3x4x5", "4"), ("2x3x130", "3"), ("1x1x2", "1")]


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
]
