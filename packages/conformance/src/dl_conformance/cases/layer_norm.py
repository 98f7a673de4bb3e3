"""Layer normalization and its gradient."""

from dl_conformance.vocabulary import T, calls, refused

SHAPES = [
    ("5x7", "5x1", "7", [7]),
    ("3x4x6", "3x1x1", "4x6", [4, 6]),
    ("2x3x257", "2x3x1", "257", [257]),
]

CASES = [
    calls(
        "LayerNorm",
        *(dict(input=x, weight=w, bias=w, normalized_shape=n, eps=1e-3) for x, _, w, n in SHAPES),
        dict(input="5x7", weight=None, bias=None, normalized_shape=[7], eps=1e-3),
        dict(input="5x7", weight="7", bias=None, normalized_shape=[7], eps=1e-3),
    ),
    calls(
        "LayerNormBackward",
        *(
            dict(
                grad_output=x,
                input=x,
                weight=w,
                bias=w,
                mean=m,
                rstd=T(m, low=0.5, high=2),
                normalized_shape=n,
            )
            for x, m, w, n in SHAPES
        ),
        dict(
            grad_output="2x3x7",
            input="2x3x7",
            weight=None,
            bias=None,
            mean="2x3x1",
            rstd=T("2x3x1", low=0.5, high=2),
            normalized_shape=[7],
            grad_weight=None,
            grad_bias=None,
        ),
    ),
    calls(
        "LayerNormGB",
        *(
            dict(input=x, weight=w, bias=w, eps=1e-3, begin_norm_axis=x.count("x") + 1 - len(n))
            for x, _, w, n in SHAPES
        ),
        dict(input="5x7", weight=None, bias=None, eps=1e-3, begin_norm_axis=-1),
    ),
    calls(
        "LayerNormGBBackward",
        *(
            dict(
                grad_output=x,
                input=x,
                weight=w,
                bias=w,
                running_mean=m,
                running_std=T(m, low=0.5, high=2),
                begin_norm_axis=x.count("x") + 1 - len(n),
            )
            for x, m, w, n in SHAPES
        ),
    ),
    refused(
        "LayerNorm",
        dict(input="5x7", weight="7", bias="7", normalized_shape=[7], eps=0.001),
        dict(input="5x7x1"),
        dict(input="6x7"),
        dict(weight="8"),
        dict(save_mean="5x2"),
        dict(input=T("5x7", low=0, high=1, dtype="int64")),
    ),
    refused(
        "LayerNorm",
        dict(input="3x4x6", weight="4x6", bias="4x6", normalized_shape=[4, 6], eps=0.001),
        dict(normalized_shape=[4, 6, 4, 6]),
    ),
    refused(
        "LayerNormBackward",
        dict(
            grad_output="5x7",
            input="5x7",
            weight="7",
            bias="7",
            mean="5x1",
            rstd=T("5x1", low=0.5, high=2),
            normalized_shape=[7],
        ),
        dict(grad_output="5x7x1"),
        dict(mean="5x2"),
        dict(grad_input="5"),
    ),
    refused(
        "LayerNormGB",
        dict(input="5x7", weight="7", bias="7", eps=0.001, begin_norm_axis=1),
        dict(input="5"),
    ),
    refused(
        "LayerNormGBBackward",
        dict(
            grad_output="5x7",
            input="5x7",
            weight="7",
            bias="7",
            running_mean="5x1",
            running_std=T("5x1", low=0.5, high=2),
            begin_norm_axis=1,
        ),
        dict(grad_input="5"),
    ),
]
