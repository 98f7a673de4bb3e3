"""Batch normalization."""

from dl_conformance.vocabulary import T, calls, refused

SHAPES = [("4x3x5x5", "3"), ("4x3", "3"), ("2x3x7", "3"), ("2x2x2x3x4", "2")]
POSITIVE = dict(low=0.5, high=2)


def batch(shape, channels, training):
    statistics = dict(running_mean=channels, running_var=T(channels, **POSITIVE))
    saved = {} if training else dict(save_mean=None, save_invstd=None)
    affine = dict(weight=channels, bias=channels, momentum=0.1, eps=1e-3)
    return dict(input=shape, training=training, **statistics, **affine, **saved)


def gradient(shape, channels, training):
    statistics = dict(
        running_mean=channels,
        running_var=T(channels, **POSITIVE),
        save_mean=channels,
        save_invstd=T(channels, **POSITIVE),
    )
    tensors = dict(grad_output=shape, input=shape, weight=channels)
    return dict(**tensors, **statistics, training=training, eps=1e-3)


CASES = [
    calls("BatchNorm", *(batch(s, c, True) for s, c in SHAPES)),
    calls("BatchNorm", *(batch(s, c, False) for s, c in SHAPES)),
    calls("BatchNormBackward", *(gradient(s, c, True) for s, c in SHAPES)),
    calls("BatchNormBackward", *(gradient(s, c, False) for s, c in SHAPES)),
    calls("BatchNormBackward", dict(gradient("4x3x5x5", "3", True), weight=None), layouts=()),
    refused(
        "BatchNorm",
        dict(
            input="4x3x5x5",
            training=True,
            running_mean="3",
            running_var=T("3", low=0.5, high=2),
            weight="3",
            bias="3",
            momentum=0.1,
            eps=0.001,
        ),
        dict(input="4x3x5x5x1"),
        dict(weight="4"),
        dict(bias="4"),
        dict(running_mean="4"),
        dict(running_var=T("-", low=0.5, high=2)),
        dict(save_mean="4"),
        dict(save_invstd="4"),
        dict(input=T("4x3x5x5", low=0, high=1, dtype="int64")),
    ),
    refused(
        "BatchNorm",
        dict(
            input="4x3",
            training=True,
            running_mean="3",
            running_var=T("3", low=0.5, high=2),
            weight="3",
            bias="3",
            momentum=0.1,
            eps=0.001,
        ),
        dict(input="4"),
    ),
    refused(
        "BatchNormBackward",
        dict(
            grad_output="4x3x5x5",
            input="4x3x5x5",
            weight="3",
            running_mean="3",
            running_var=T("3", low=0.5, high=2),
            save_mean="3",
            save_invstd=T("3", low=0.5, high=2),
            training=True,
            eps=0.001,
        ),
        dict(grad_output="4x3x5x5x1"),
        dict(grad_input="4x3x5"),
        dict(grad_weight="4"),
        dict(grad_bias="4"),
        dict(save_mean=None),
    ),
]
