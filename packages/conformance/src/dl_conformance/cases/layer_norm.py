"""Layer normalization and its gradient."""

from dl_conformance.vocabulary import T, calls

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
]
