"""Group normalization."""

from dl_conformance.vocabulary import T, calls, refused

INSTANCES = [
    ("2x3x40", 2, "3"),
    ("2x3x40", 2, None),
    ("2x3x5x6", 2, "3"),
    (
        "2x3x3x5",
        2,
        "3",
    ),  # as many channels as rows: the shape does not distinguish the two dimensions
    ("2x3x4x5x3", -3, "3"),
    ("2x3x4x5", 3, "12"),  # all dimensions between the samples and the axis are channels
    ("2x3x4", 1, "1"),
    ("1x6x7", -1, "6"),
]

CASES = [
    calls(
        "GroupNorm",
        dict(input="2x6x5x3", weight="6", bias="6", num_groups=3, eps=1e-3),
        dict(input="2x4x7", weight=None, bias=None, num_groups=2, eps=1e-3),
        dict(input="3x4x5", weight="4", bias="4", num_groups=1, eps=1e-3),
        dict(input="3x4x5", weight="4", bias="4", num_groups=4, eps=1e-3),
    ),
    calls(
        "GroupNormBackward",
        *(
            dict(
                grad_output=x,
                input=x,
                weight=w,
                mean=T(m, low=-0.5, high=0.5),
                rstd=T(m, low=0.5, high=2),
                num_groups=g,
            )
            for x, w, m, g in (
                ("2x6x5x3", "6", "2x3", 3),
                ("2x4x7", None, "2x2", 2),
                ("3x4x5", "4", "3x1", 1),
                ("3x4x5", "4", "3x4", 4),
            )
        ),
    ),
    calls(
        "InstanceNorm",
        *(dict(input=x, scale=s, bias=s, axis=a, eps=1e-3) for x, a, s in INSTANCES),
    ),
    calls(
        "InstanceNormBackward",
        *(dict(grad_output=x, input=x, scale=s, bias=s, axis=a, eps=1e-3) for x, a, s in INSTANCES),
    ),
    refused(
        "GroupNorm",
        dict(input="2x6x5x3", weight="6", bias="6", num_groups=3, eps=0.001),
        dict(input="2x6x5x3x1"),
        dict(input="2x7x5x3"),
        dict(weight="7"),
        dict(bias="7"),
        dict(input="-"),
        dict(save_mean="2"),
        dict(input=T("2x6x5x3", low=0, high=1, dtype="int64")),
    ),
    refused(
        "GroupNormBackward",
        dict(
            grad_output="2x6x5x3",
            input="2x6x5x3",
            weight="6",
            mean=T("2x3", low=-0.5, high=0.5),
            rstd=T("2x3", low=0.5, high=2),
            num_groups=3,
        ),
        dict(grad_output="2x6x5x3x1"),
        dict(grad_input="2x6x5"),
        dict(grad_weight="7"),
        dict(grad_bias="7"),
    ),
    refused(
        "InstanceNorm",
        dict(input="2x3x40", scale="3", bias="3", axis=2, eps=0.001),
        dict(axis=1),
        dict(axis=0),
        dict(axis=-3),
        dict(axis=3),
        dict(scale="40"),
    ),
    refused(
        "InstanceNormBackward",
        dict(grad_output="2x3x40", input="2x3x40", scale="3", bias="3", axis=2, eps=0.001),
        dict(grad_scale="4"),
        dict(grad_input="2x3x40x1"),
    ),
]
